"""One smoke test for each private name of jax and jaxlib, to find those that a release moved.

The tests and `lazytensor doctor` run them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from jaxlib import _jax, lapack
from jaxlib import xla_client as xla
from jaxlib.mlir import ir

from lazytensor.backends.xla import client, partition, session
from lazytensor.backends.xla.portable import jax_export, modules, running
from lazytensor.core.device.backend import HOST_PLATFORM
from lazytensor.core.ir.sharding import Mesh, interned
from lazytensor.core.ir.types import tensor_type

SAME: Final = """
func.func public @main(%a: tensor<1xf64>) -> tensor<1xf64> {
  return %a : tensor<1xf64>
}
"""


def _client() -> Any:
    return session.session().client


def _devices() -> Any:
    return _jax.DeviceList((_client().local_devices()[0],))


def _loaded() -> Any:
    with client.context():
        module = ir.Module.parse(SAME)
    return _client().compile_and_load(module, _devices(), client.compile_options())


def _type() -> Any:
    return session.session().array_type((1,), np.dtype("f8"))


def _put(**options: Any) -> Any:
    device = _client().local_devices()[0]
    sharding = session.session().sharding(device)
    return _jax.batched_device_put(_type(), sharding, [np.ones(1)], [device], **options)


def _copy() -> Any:
    sharding = session.session().sharding(_client().local_devices()[0])
    always = _jax.ArrayCopySemantics.ALWAYS_COPY
    return _jax.batched_copy_array_to_devices_with_sharding(
        [_put(enable_x64=True)], [_devices()], [sharding], [always]
    )


def _deserialize() -> Any:
    payload = _client().serialize_executable(_loaded())
    return _client().deserialize_executable(payload, _devices(), client.compile_options())


MESH: Final = Mesh((2,), ("x",))
SPLIT: Final = interned(MESH, (("x",),))
PARTED: Final = f"""
module attributes {{mhlo.num_partitions = 2 : i32}} {{
  sdy.mesh @mesh_x2 = <["x"=2]>
  {SAME.replace("tensor<1xf64>", "tensor<2xf64>").strip()}
}}
"""


def _partitioned() -> Any:
    with client.context():
        return partition.compile(ir.Module.parse(PARTED), MESH)


def _put_parts() -> Any:
    return partition.place(np.ones(2), SPLIT)


def _distributed() -> Any:
    """What connects processes is there; that it works only several processes can try."""
    arguments = inspect.signature(xla.make_cpu_client).parameters
    assert {"distributed_client", "node_id", "num_nodes", "collectives"} <= arguments.keys()
    return (
        _jax.get_distributed_runtime_service,
        _jax.get_distributed_runtime_client,
        _jax.make_gloo_tcp_collectives,
        _jax.DistributedRuntimeClient.key_value_dir_get,
    )


def _exported() -> Any:
    """A program in jax's own format, whose module is ours."""
    port = (np.dtype("f8"), (1,))
    given = [SimpleNamespace(dtype=port[0], shape=port[1])]
    with client.context():
        data = modules.serialized(ir.Module.parse(SAME))
    made = jax_export.exported("same", data, given, given)
    return made.mlir_module_serialized == data and made.serialize()


def _refined() -> Any:
    text = SAME.replace("tensor<1xf64>", "tensor<?xf64>")
    with client.context():
        module = ir.Module.parse(text)
    return running.refined(module, [tensor_type(np.dtype("f8"), (1,))])


def _x64_put() -> Any:
    jax = session.jax()
    with jax.enable_x64(True):
        return jax.device_put(np.ones(1), jax.local_devices()[0])


PRIVATE_NAMES: Final[dict[str, Callable[[], Any]]] = {
    "the CPU's client, options and context, by jaxlib alone": session.own_session,
    "jax.extend.backend.get_backend, get_compile_options": lambda: session.jax_session("cpu"),
    "jax.interpreters.mlir.make_ir_context": lambda: session.jax_session("cpu").context(),
    "CompileOptions.SerializeAsString": lambda: client.compile_options().SerializeAsString(),
    "jax.enable_x64": _x64_put,
    "Client._raw_platform": lambda: _client()._raw_platform,
    "Client.platform_version": lambda: _client().platform_version,
    "Client.compile_and_load, DeviceList": _loaded,
    "Client.serialize_executable, deserialize_executable": _deserialize,
    "LoadedExecutable.execute": lambda: _loaded().execute([_put(enable_x64=True)]),
    "LoadedExecutable.execute_sharded": lambda: _loaded().execute_sharded([_put(enable_x64=True)]),
    "array_result_handler": lambda: client.result_handler(_type()),
    "ExecuteResults.consume_with_handlers": lambda: (
        _loaded()
        .execute_sharded([_put(enable_x64=True)])
        .consume_with_handlers([client.result_handler(_type())])
    ),
    "LoadedExecutable.get_compiled_memory_stats": lambda: (
        _loaded().get_compiled_memory_stats().temp_size_in_bytes
    ),
    "batched_copy_array_to_devices_with_sharding": _copy,
    "batched_device_put(enable_x64)": lambda: _put(enable_x64=True),
    "batched_device_put(committed)": lambda: _put(committed=False, enable_x64=True),
    "batched_device_put(host_buffer_semantics)": lambda: _put(
        host_buffer_semantics=_jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL, enable_x64=True
    ),
    "HostBufferSemantics.ZERO_COPY": lambda: _jax.HostBufferSemantics.ZERO_COPY,
    "batched_device_put of parts": _put_parts,
    "ArrayImpl.addressable_shards": lambda: dict(enumerate(partition.parts(_put_parts()))),
    "DeviceAssignment.create": _partitioned,
    "LoadedExecutable.get_output_shardings": lambda: _partitioned()._loaded.get_output_shardings()[
        0
    ],
    "LoadedExecutable.hlo_modules": lambda: _partitioned().collectives(),
    "HloSharding.from_proto": lambda: xla.HloSharding.from_proto(
        _partitioned()._loaded.get_output_shardings()[0]
    ).tile_assignment_dimensions(),
    "Sharding._to_xla_hlo_sharding": lambda: partition._sharding(SPLIT)._to_xla_hlo_sharding(1),
    "LoadedExecutable.cost_analysis": lambda: dict(_partitioned()._loaded.cost_analysis()),
    "get_distributed_runtime_service, get_distributed_runtime_client": _distributed,
    "make_cpu_client(num_devices)": lambda: session.cpu_client(2),
    "collect_garbage": lambda: _jax.collect_garbage() is None,
    "ArrayImpl.clone": lambda: client._fetched(_put(enable_x64=True)),
    "Device.memory_stats": lambda: [_client().local_devices()[0].memory_stats()],
    "ArrayImpl.on_device_size_in_bytes": lambda: _put(enable_x64=True).on_device_size_in_bytes(),
    "ArrayImpl._single_device_array_to_np_array_did_copy": lambda: _put(
        enable_x64=True
    )._single_device_array_to_np_array_did_copy(),
    "set_tracebacks_enabled": lambda: session._set_tracebacks is _jax.set_tracebacks_enabled,
    "mlir.global_thread_pool": lambda: (
        session.jax()._src.interpreters.mlir.global_thread_pool.get_max_concurrency()
    ),
    "Client.live_arrays": lambda: _client().live_arrays(),
    "Exported.mlir_module_serialized, serialize_portable_artifact": _exported,
    "refine_polymorphic_shapes": _refined,
    "lapack.prepare_lapack_call": lambda: lapack.prepare_lapack_call("potrf_ffi", np.dtype("f8")),
}


OF_TWO_DEVICES: Final = frozenset(
    [
        "batched_device_put of parts",
        "ArrayImpl.addressable_shards",
        "DeviceAssignment.create",
        "LoadedExecutable.get_output_shardings",
        "LoadedExecutable.hlo_modules",
        "HloSharding.from_proto",
        "LoadedExecutable.cost_analysis",
        "Sharding._to_xla_hlo_sharding",
    ]
)
"""The names that only a mesh uses: they cannot be tried on a machine with one accelerator."""


def missing() -> list[str]:
    """The names that are missing or fail, each with its error."""
    found = []
    has_two = client.platform() == HOST_PLATFORM or client.device_count() > 1
    for name, use in PRIVATE_NAMES.items():
        if name in OF_TWO_DEVICES and not has_two:
            continue
        try:
            use()
        except Exception as error:  # noqa: BLE001  a name that moved may fail in any way
            found.append(f"{name} ({type(error).__name__}: {error})")
    return found
