"""What XLA runs with: a platform's client, and the Python objects that jaxlib asks for beside it.

On a CPU the client is jaxlib's, and jax itself is not imported: that takes most of a second, with
the interpreter's lock held. On other platforms jax finds the plugin that has the client. The user's
own jax arrays are another client's. Like `client.py`, this file has private names of jax and
jaxlib, each with a smoke test: `jaxlib.xla_client`'s CPU client, compile options and replicated
sharding; `SingleDeviceSharding` and `collect_garbage` of `jaxlib._jax`; the dialects of
`jaxlib.mlir._mlir_libs`; `set_tracebacks_enabled`; the thread pool of jax's MLIR contexts.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import numpy as np
from jaxlib import _jax, cpu_feature_guard
from jaxlib import xla_client as xla
from jaxlib.mlir import ir

from lazytensor.backends.xla.forks import hide_jax_warning, watch_forks
from lazytensor.core.device.backend import imported

_lock = threading.Lock()
_importing = threading.RLock()


class Session(NamedTuple):
    """A client and what jaxlib asks of Python beside it.

    `options` makes the compile options, `context` an MLIR context. `array_type(shape, dtype)` and
    `sharding(device)` are attributes of arrays.
    """

    client: Any
    options: Callable[[], Any]
    context: Callable[[], ir.Context]
    array_type: Callable[[tuple[int, ...], np.dtype], Any]
    sharding: Callable[[Any], Any]


class _ArrayType:
    """What jaxlib asks of an array's abstract value."""

    __slots__ = ("dtype", "shape")
    weak_type = False

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape = shape
        self.dtype = dtype


class _OneDevice(_jax.SingleDeviceSharding):
    """What jaxlib asks of a sharding over one device."""

    memory_kind = None

    def _to_xla_hlo_sharding(self, _: int) -> Any:
        return xla.HloSharding.replicate()


class _Context(ir.Context):
    """An MLIR context without the dialects that its class loads by itself."""

    def __init__(self) -> None:
        super(ir.Context, self).__init__()


threads: Final = ir.ThreadPool()
"""The threads of our MLIR context."""


_set_tracebacks: Final[Callable[[bool], object]] = getattr(
    _jax, "set_tracebacks_enabled", lambda _: None
)


class Tracebacks:
    """jaxlib's tracebacks of arrays, which only jax reads: none are taken while it is not imported.

    They take a twentieth of a short run. And where a finalizer computes during a collection of
    garbage, jaxlib frees code objects that are in use (jaxlib 0.10).
    """

    taken = True

    @classmethod
    def adapt(cls) -> None:
        """Take them if the process has jax, and else do not. Called before each run."""
        if cls.taken != ("jax" in sys.modules):
            cls.taken = not cls.taken
            _set_tracebacks(cls.taken)

    @classmethod
    @contextmanager
    def ignored(cls) -> Iterator[None]:
        """Let jaxlib read, during the block, an array that was made without one."""
        _set_tracebacks(False)
        try:
            yield
        finally:
            _set_tracebacks(cls.taken)


def cpu_client(devices: int = 1) -> Any:
    """A client that shows the CPU as `devices` devices. Its threads get this thread's priority."""
    return xla.make_cpu_client(num_devices=devices)


def own_session() -> Session:
    """A session on the CPU, by jaxlib alone. Raises: AttributeError or so where names moved."""
    cpu_feature_guard.check_cpu_features()
    # Python objects that XLA's threads are done with are freed here, as jax frees them.
    gc.callbacks.append(lambda *_: _jax.collect_garbage())
    return Session(cpu_client(), _own_options, _own_context, _ArrayType, _OneDevice)


def _own_options() -> Any:
    """The options that jax compiles with on a CPU."""
    options = xla.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    options.executable_build_options.use_spmd_partitioning = True
    options.executable_build_options.use_shardy_partitioner = True
    options.executable_build_options.debug_options.xla_disable_hlo_passes = "rematerialization"
    return options


def _own_context() -> ir.Context:
    from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _mlirHlo, _sdy
    from jaxlib.mlir.dialects import stablehlo

    dialects, made = ir.DialectRegistry(), _Context()
    _jax_mlir_ext.register_dialects(dialects)
    made.append_dialect_registry(dialects)
    made.load_all_available_dialects()
    made.set_thread_pool(threads)
    _mlirHlo.register_mhlo_dialect(made)
    for dialect in (_chlo, _sdy, stablehlo):
        dialect.register_dialect(made)
    return made


def jax_session(chosen: str) -> Session:
    """The session of jax's own client of a platform, or of its default platform."""
    from functools import partial

    jax_backend = jax().extend.backend
    try:
        client = jax_backend.get_backend(chosen or None)
    except RuntimeError as error:
        there = ", ".join(jax_backend.backends())
        text = f"LAZYTENSOR_PLATFORM: one of {there} was expected, got {chosen!r}: {error}"
        raise ValueError(text) from None
    return Session(
        client,
        partial(jax_backend.get_compile_options, num_replicas=1, num_partitions=1),
        jax().interpreters.mlir.make_ir_context,
        jax().core.ShapedArray,
        jax().sharding.SingleDeviceSharding,
    )


def _has_plugins() -> bool:
    """Whether jax may have another platform than the CPU."""
    from importlib.metadata import entry_points

    known = any(find_spec(name) for name in ("jax_plugins", "libtpu"))
    return known or bool(entry_points(group="jax_plugins"))


def session() -> Session:
    """The process's session, made now if there is none."""
    with _lock:
        return _session()


@cache
def _session() -> Session:
    chosen = os.environ.get("LAZYTENSOR_PLATFORM", "").strip()
    if (chosen or os.environ.get("JAX_PLATFORMS", "")) != "cpu" and (chosen or _has_plugins()):
        return jax_session(chosen)
    try:
        return own_session()
    except (AttributeError, ImportError, TypeError):  # a release has moved its names
        return jax_session("cpu")


def jax() -> Any:
    """The module jax, imported now: for what is lowered by its functions, and for its clients."""
    with _importing:
        return _jax_module()


@cache
def _jax_module() -> Any:
    is_ours = "jax" not in sys.modules
    made = imported("jax")
    for name in ("extend.backend", "interpreters.mlir", "lax.linalg"):
        imported(f"jax.{name}")
    client = made.extend.backend.get_backend()  # it has threads, and handlers of forks
    pool = getattr(sys.modules.get("jax._src.interpreters.mlir"), "global_thread_pool", None)
    watch_forks(client.live_arrays, (client, pool))
    if is_ours:
        hide_jax_warning()
    return made
