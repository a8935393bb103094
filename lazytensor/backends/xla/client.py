"""XLA's client: compile modules, run them, move arrays.

It relies on these private names, each with a smoke test: `DeviceList`, `batched_device_put`,
`batched_copy_array_to_devices_with_sharding`, `HostBufferSemantics` and `array_result_handler` of
`jaxlib._jax`; `jaxlib.lapack`; an array's `clone`; a device's `memory_stats`; a client's
`compile_and_load`, `live_arrays`, `serialize_executable` and `deserialize_executable`; a loaded
executable's `execute`, `execute_sharded`, `consume_with_handlers` and `get_compiled_memory_stats`.
A name that is needed for speed only has a public replacement, used when it is missing. `session.py`
has those that make a client. The user's jax configuration is read and never written.
"""

from __future__ import annotations

import os
import platform as machine
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache, partial
from hashlib import blake2b
from operator import methodcaller
from pathlib import Path
from typing import Any, Final, TypeAlias

import jaxlib.version
import numpy as np
from jaxlib import _jax, lapack
from jaxlib.mlir import ir

from lazytensor.backends.xla import forks, priority, waiting
from lazytensor.backends.xla.callbacks import Callback, callbacks_in, function, text_of
from lazytensor.backends.xla.forks import watch_forks
from lazytensor.backends.xla.session import Tracebacks, cpu_client, jax, session, threads
from lazytensor.core.device import gil, host_memory
from lazytensor.core.device.backend import HOST_PLATFORM, Collective, Effort, undisturbed
from lazytensor.core.ir.sharding import Sharding

Buffer: TypeAlias = Any
"""jaxlib's `ArrayImpl`: an array of one device."""
ExecutionError: Final[type[RuntimeError]] = _jax.JaxRuntimeError

CHECKSUM_BYTES: Final = 4
_context_lock = threading.Lock()


class CorruptExecutable(ValueError):
    """Serialised bytes that are damaged, or that this XLA cannot read."""


def platform() -> str:
    """The platform that programs run on: "cpu", "cuda", "tpu"; LAZYTENSOR_PLATFORM chooses."""
    return str(getattr(_client(), "_raw_platform", _client().platform))


def device_count() -> int:
    """The number of devices of this process; programs run on the first by default."""
    return len(_client().local_devices())


def device_names() -> list[str]:
    """Each device with its kind; programs run on the first."""
    return [f"{device} ({device.device_kind})" for device in _client().local_devices()]


@cache
def fingerprint() -> bytes:
    """A hash of everything besides its program that a serialised executable depends on."""
    parts = (
        jaxlib.version.__version__,
        _client().platform_version,
        platform(),
        _device().device_kind,
        _processor() if platform() == "cpu" else "",
        os.environ.get("XLA_FLAGS", ""),
    )
    options = compile_options().SerializeAsString()
    return blake2b("\0".join(parts).encode() + options, digest_size=32).digest()


def context() -> ir.Context:
    """The MLIR context that has every dialect we emit; one for the process.

    Threads may build modules in it at the same time, each its own module. A module of another
    context is passed as bytes. An op of a dialect that a context lacks crashes the process, so
    no other module makes a context.
    """
    with _context_lock:
        return _context()


def compile(module: ir.Module | str | bytes, callbacks: Sequence[Callback] = ()) -> Executable:
    """Compile a module (or its text or bytecode) of StableHLO and CHLO; other threads may run.

    callbacks: the ops in it that the host runs.
    Raises `ExecutionError` if XLA refuses it, `ir.MLIRError` for text that is not a module.
    """
    if isinstance(module, str | bytes):
        _bind_lapack_for(module.encode() if isinstance(module, str) else module)
        with context():
            module = ir.Module.parse(module)
    if effort() is not Effort.WAITED:
        return _compiled_apart(module, callbacks)
    called = list(map(function, callbacks))
    loaded = _client().compile_and_load(module, _devices(), compile_options(), called)
    return Executable(loaded, callbacks)


class _Compiling(threading.local):
    """What one thread compiles with; `is_likely`: whether forms were chosen without measuring."""

    effort = Effort.WAITED
    is_likely = False


compiling: Final = _Compiling()


def effort() -> Effort:
    """How this thread compiles."""
    return compiling.effort if platform() == "cpu" else Effort.WAITED


@contextmanager
def making(effort: Effort) -> Iterator[None]:
    """Let this thread compile with an effort.

    If nobody waits, another client compiles, whose threads have a low priority, and the executable
    is sent over.
    """
    compiling.effort, compiling.is_likely = effort, False
    try:
        yield
    finally:
        compiling.effort, compiling.is_likely = Effort.WAITED, False


def _compiled_apart(module: ir.Module, callbacks: Sequence[Callback]) -> Executable:
    other, called = _second_client(), list(map(function, callbacks))
    devices = _jax.DeviceList((other.local_devices()[0],))
    with gil.waiting():  # XLA's threads compile
        loaded = other.compile_and_load(module, devices, compile_options(), called)
    payload = other.serialize_executable(loaded)
    return Executable(_loaded(payload, called), callbacks, payload)


def _loaded(payload: bytes, called: Sequence[Callable[..., Any]]) -> Any:
    """Load a serialised executable. `called`: the functions that it calls back."""
    return _client().deserialize_executable(payload, _devices(), compile_options(), list(called))


@cache
def _second_client() -> Any:
    with priority.lowering():
        made = cpu_client()
    watch_forks(made.live_arrays, (made,))
    return made


def deserialize(data: bytes) -> Executable:
    """The executable that `Executable.serialize` wrote; raises `CorruptExecutable`.

    XLA refuses most damaged bytes, but some crash it: hence the checksum.
    """
    text, _, payload = unchecked(data).partition(b"\n")
    _bind_lapack_for(payload)
    try:
        callbacks = callbacks_in(text)
        loaded = _loaded(payload, list(map(function, callbacks)))
    except (ExecutionError, ValueError) as error:
        raise CorruptExecutable(f"deserialize: {error}") from error
    return Executable(loaded, callbacks)


def compile_options() -> Any:
    """XLA's options for one program on one device: its defaults, as no others were better.

    `xla_cpu_copy_insertion_use_region_analysis` spares copies, but overwrites values that a loop
    carries while they are still read: cumulative sums came out wrong.

    On a CPU the defaults keep NaN in minimum and maximum, round every element type after every
    operation (but contract a multiply and an add), and divide data by data exactly. They change
    results in three ways: division by a constant multiplies by its reciprocal, chains of constants
    and of divisions are joined, and subnormals are zero. Without the simplifier only the last
    remains, but transposes no longer fold into matrix products.
    """
    return session().options()


class Executable:
    """A program that XLA has compiled and loaded on the device. `callbacks`: what the host runs."""

    __slots__ = (
        "_execute",
        "_handlers",
        "_loaded",
        "_payload",
        "_wrap",
        "callbacks",
        "calls_back",
        "is_provisional",
        "shardings",
        "smallest",
    )

    def __init__(
        self, loaded: Any, callbacks: Sequence[Callback] = (), payload: bytes | None = None
    ) -> None:
        self._loaded = loaded
        self.callbacks = callbacks
        self.calls_back = bool(callbacks)
        self._payload = payload
        self.is_provisional = compiling.is_likely
        self._execute = loaded.execute_sharded
        self._handlers: list[Any] | None = None
        self._wrap: Any = None
        self.shardings: tuple[Sharding, ...] = ()
        self.smallest = 0

    def start(self, buffers: Sequence[Buffer]) -> Iterator[list[Buffer]]:
        """An iterator whose `next` starts a run and gives its results, which may be pending.

        C code alone leads from the run to its results, so that no signal handler can lose them.
        Donated buffers are deleted, unless a host view or host memory under them forbids writing:
        then XLA donates a copy. Element types are not checked, only sizes. A failure known at the
        start is raised here (`ExecutionError`), a later one by a wait for a result.
        """
        Tracebacks.adapt()
        if self._handlers is None:  # slower, and not safe from signal handlers
            return map(list, map(self._loaded.execute, (buffers,)))
        return map(self._wrap, map(self._execute, (buffers,)))

    def __call__(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """Run the program (see `start`)."""
        results = next(self.start(buffers))
        if self._handlers is None:
            self.expect(results)
        return results

    def directly(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """Run a program that overwrites none of its inputs: a signal loses nothing."""
        if self._handlers is None:
            return self(buffers)
        Tracebacks.adapt()
        found: list[Buffer] = self._execute(buffers).consume_with_handlers(self._handlers)
        return found

    def expect(self, types: Sequence[Any]) -> None:
        """Declare the results' `shape` and `dtype`, so that `start` takes the fast path."""
        self._handlers = _result_handlers(types)
        self._wrap = methodcaller("consume_with_handlers", self._handlers)

    def temporary_bytes(self) -> int:
        """Bytes that a run needs besides its inputs and results; 0 if XLA does not say."""
        try:
            return int(self._loaded.get_compiled_memory_stats().temp_size_in_bytes)
        except (AttributeError, ExecutionError):
            return 0

    def collectives(self) -> list[Collective]:
        """None: it runs on one device."""
        return []

    def serialize(self) -> bytes:
        """Bytes that `deserialize` loads again where `fingerprint()` is equal.

        XLA:CPU loses functions of an executable that was deserialised: call it once then.
        """
        payload, self._payload = self._payload, None
        if payload is None:
            payload = _client().serialize_executable(self._loaded)
        return checked(text_of(self.callbacks) + b"\n" + payload)


def to_device(array: np.ndarray, *, owned: bool) -> Buffer:
    """Upload. `owned` promises that `array` is never written to again, so that it may be aliased.

    An aliased buffer is made without a copy, and copied when a program donates it.
    """
    try:
        return _jax.batched_device_put(
            _array_type(array.shape, array.dtype),
            _sharding(),
            [array],
            [_device()],
            committed=False,
            host_buffer_semantics=_semantics()[owned],
            enable_x64=True,
        )
    except (AttributeError, TypeError):
        return _put_publicly(array, owned=owned)


def uploads(shape: tuple[int, ...], dtype: np.dtype) -> Callable[[list[np.ndarray]], Buffer]:
    """What uploads arrays of one type, given in a list of one; the contents are copied."""
    try:
        put = partial(
            _jax.batched_device_put,
            _array_type(shape, dtype),
            _sharding(),
            devices=[_device()],
            committed=False,
            host_buffer_semantics=_semantics()[False],
            enable_x64=True,
        )
        put([np.zeros(shape, dtype)])
    except (AttributeError, TypeError):
        return lambda arrays: to_device(arrays[0], owned=False)
    return put


def to_host(buffer: Buffer) -> np.ndarray:
    """A fresh, writable copy; waits for the buffer. Raises `ExecutionError` if making it failed."""
    view = host_view(buffer)
    return view if view.flags.writeable else np.array(view)


def copied(buffer: Buffer) -> np.ndarray:
    """As `to_host` on a CPU; of a result that is there already, at a lower price."""
    if buffer.is_ready():
        with suppress(TypeError, BufferError):  # an element type that Python's buffers lack
            return np.array(memoryview(buffer))
    return to_host(buffer)


def host_view(buffer: Buffer) -> np.ndarray:
    """On a CPU a read-only array of the buffer's memory, else a fresh, writable copy.

    While the former lives, a donation copies the buffer. Raises `ExecutionError` if making the
    buffer failed.
    """
    if forks.fetched.is_child:
        return forks.fetched.value(buffer).copy()
    block_until_ready(buffer)
    if platform() != HOST_PLATFORM:
        return _fetched(buffer)
    try:
        return np.asarray(memoryview(buffer))
    except (TypeError, BufferError):  # an element type that Python's buffers lack
        return _by_jax(buffer)


def _fetched(buffer: Buffer) -> np.ndarray:
    """A copy in the host's memory. jaxlib would keep it for as long as the array lives."""
    jax()  # it gives arrays this method
    array = _by_jax(buffer.clone())
    if not array.flags.owndata:
        return array.copy()
    array.flags.writeable = True
    return array


def _by_jax(buffer: Buffer) -> np.ndarray:
    jax()  # it is imported by the next line, from C++
    with Tracebacks.ignored():
        return np.asarray(buffer._single_device_array_to_np_array_did_copy()[0])


def copy(buffer: Buffer) -> Buffer:
    """A second buffer with the same contents; does not wait for the first."""
    try:
        return _jax.batched_copy_array_to_devices_with_sharding(
            [buffer], [_devices()], [_sharding()], [_jax.ArrayCopySemantics.ALWAYS_COPY]
        )[0]
    except (AttributeError, TypeError):
        return to_device(to_host(buffer), owned=True)


def is_ready(buffer: Buffer) -> bool:
    """Whether the program that makes the buffer has finished."""
    return bool(buffer.is_ready())


def block_until_ready(buffer: Buffer) -> None:
    """Wait for the buffer; raises `ExecutionError` if the program that makes it failed."""
    waiting.wait(buffer)


def delete(buffer: Buffer) -> None:
    """Free the buffer's memory now, or as soon as running programs have read it."""
    buffer.delete()


@cache
def most_bytes() -> int:
    """Bytes that arrays on the device can have at most."""
    if platform() == HOST_PLATFORM:
        return host_memory.most()
    return int((_device().memory_stats() or {}).get("bytes_limit", 2**63))


def allocated() -> int:
    """Bytes of all live buffers."""
    return sum(array.on_device_size_in_bytes() for array in _client().live_arrays())


@cache
def _client() -> Any:
    client = session().client
    name = getattr(client, "_raw_platform", client.platform)
    copied = None if name == HOST_PLATFORM else _fetched
    watch_forks(client.live_arrays, (client, threads), copied)
    return client


@cache
def _device() -> Any:
    return _client().local_devices()[0]


@cache
def _devices() -> Any:
    return _jax.DeviceList((_device(),))


@cache
def _sharding() -> Any:
    return session().sharding(_device())


@cache
def _context() -> ir.Context:
    return undisturbed(_context_with_dialects)


def _context_with_dialects() -> ir.Context:
    # jaxlib imports a dialect's module when an op of it is first read. It does so in C++ code that
    # ends the process if a Ctrl-C comes meanwhile.
    from jaxlib.mlir.dialects import builtin, chlo, func, sdy, stablehlo  # noqa: F401

    return session().context()


@lru_cache(maxsize=4096)
def _array_type(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return session().array_type(shape, dtype)


@cache
def _semantics() -> tuple[Any, Any]:
    """How an upload treats host memory, indexed by `owned`."""
    kinds = _jax.HostBufferSemantics
    return kinds.IMMUTABLE_ONLY_DURING_CALL, kinds.ZERO_COPY


def _put_publicly(array: np.ndarray, *, owned: bool) -> Buffer:
    """Upload through jax's public function, which is slower."""
    with jax().enable_x64(True):  # for this thread, until the block ends
        return jax().device_put(array if owned else array.copy(), _device())


def _result_handlers(results: Sequence[Any]) -> list[Any] | None:
    """The handlers that wrap device results as arrays; None where this jax has no such thing."""
    try:
        return [result_handler(_array_type(x.shape, x.dtype)) for x in results]
    except (AttributeError, TypeError):
        return None


def result_handler(kind: Any) -> Any:
    """The handler that wraps a device result of this abstract value as an array."""
    try:
        return _jax.array_result_handler(kind, _sharding(), committed=False, _skip_checks=True)
    except TypeError:  # newer versions never check, and lack `_skip_checks`
        return _jax.array_result_handler(kind, _sharding(), committed=False)


def _bind_lapack_for(program: bytes) -> None:
    """Register LAPACK's routines if the program calls them, as jax does when it is imported.

    Without their addresses, a call in a program that was lowered elsewhere jumps to address zero.
    """
    if b"lapack_" in program:
        jax()
        lapack.prepare_lapack_call("potrf_ffi", np.dtype(np.float64))  # it resolves all routines


def checked(payload: bytes) -> bytes:
    """The payload behind its checksum."""
    return zlib.crc32(payload).to_bytes(CHECKSUM_BYTES, "big") + payload


def unchecked(data: bytes) -> bytes:
    """The payload that `checked` was given; raises `CorruptExecutable`."""
    payload = data[CHECKSUM_BYTES:]
    if checked(payload) != data:
        raise CorruptExecutable("deserialize: checksum differs")
    return payload


def _processor() -> str:
    """The instruction set that XLA:CPU compiles for."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return f"{machine.machine()} {machine.processor()}"
    lines = cpuinfo.read_text().splitlines()
    names = ("flags", "Features", "model name", "CPU implementer", "CPU part")
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(names)))
