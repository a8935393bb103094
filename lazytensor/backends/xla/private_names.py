"""One smoke test for each private name of jax and jaxlib, to find those that a release moved.

The tests and `lazytensor doctor` run them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.extend.backend as jax_backend
import jax.interpreters.mlir as jax_mlir
import numpy as np
from jaxlib import _jax, lapack
from jaxlib.mlir import ir

from lazytensor.backends.xla import client

SAME: Final = """
func.func public @main(%a: tensor<1xf64>) -> tensor<1xf64> {
  return %a : tensor<1xf64>
}
"""


def _loaded() -> Any:
    backend = jax_backend.get_backend()
    devices = _jax.DeviceList((backend.local_devices()[0],))
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(SAME)
    return backend.compile_and_load(module, devices, client.compile_options())


def _put(**options: Any) -> Any:
    device = jax.local_devices()[0]
    return _jax.batched_device_put(
        jax.core.ShapedArray((1,), np.dtype("f8")),
        jax.sharding.SingleDeviceSharding(device),
        [np.ones(1)],
        [device],
        **options,
    )


def _handler() -> Any:
    return client.result_handler(jax.core.ShapedArray((1,), np.dtype("f8")))


def _deserialize() -> Any:
    backend = jax_backend.get_backend()
    devices = _jax.DeviceList((backend.local_devices()[0],))
    payload = backend.serialize_executable(_loaded())
    return backend.deserialize_executable(payload, devices, client.compile_options())


def _x64_put() -> Any:
    with jax.enable_x64(True):
        return jax.device_put(np.ones(1), jax.local_devices()[0])


PRIVATE_NAMES: Final[dict[str, Callable[[], Any]]] = {
    "jax.extend.backend.get_backend": lambda: jax_backend.get_backend(None),
    "jax.extend.backend.get_compile_options": lambda: jax_backend.get_compile_options(
        num_replicas=1, num_partitions=1
    ),
    "CompileOptions.SerializeAsString": lambda: client.compile_options().SerializeAsString(),
    "jax.interpreters.mlir.make_ir_context": jax_mlir.make_ir_context,
    "jax.core.ShapedArray": lambda: jax.core.ShapedArray((2,), np.dtype("f8")),
    "jax.enable_x64": _x64_put,
    "Client._raw_platform": lambda: jax_backend.get_backend()._raw_platform,
    "Client.platform_version": lambda: jax_backend.get_backend().platform_version,
    "Client.compile_and_load, DeviceList": _loaded,
    "Client.serialize_executable, deserialize_executable": _deserialize,
    "LoadedExecutable.execute": lambda: _loaded().execute([_put(enable_x64=True)]),
    "LoadedExecutable.execute_sharded": lambda: _loaded().execute_sharded([_put(enable_x64=True)]),
    "array_result_handler": _handler,
    "ExecuteResults.consume_with_handlers": lambda: (
        _loaded().execute_sharded([_put(enable_x64=True)]).consume_with_handlers([_handler()])
    ),
    "LoadedExecutable.get_compiled_memory_stats": lambda: (
        _loaded().get_compiled_memory_stats().temp_size_in_bytes
    ),
    "batched_device_put(enable_x64)": lambda: _put(enable_x64=True),
    "batched_device_put(committed)": lambda: _put(committed=False),
    "batched_device_put(host_buffer_semantics)": lambda: _put(
        host_buffer_semantics=_jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    ),
    "HostBufferSemantics.ZERO_COPY": lambda: _jax.HostBufferSemantics.ZERO_COPY,
    "mlir.global_thread_pool": lambda: client.mlir_threads().get_max_concurrency(),
    "Client.live_arrays": lambda: jax_backend.get_backend().live_arrays(),
    "lapack.prepare_lapack_call": lambda: lapack.prepare_lapack_call("potrf_ffi", np.dtype("f8")),
}


def missing() -> list[str]:
    """The names that are missing or fail, each with its error."""
    found = []
    for name, use in PRIVATE_NAMES.items():
        try:
            use()
        except Exception as error:  # noqa: BLE001  a name that moved may fail in any way
            found.append(f"{name} ({type(error).__name__}: {error})")
    return found
