"""What the core asks of a backend, which is imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache, partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from lazytensor.core.device import garbage, gil
from lazytensor.core.device.host_memory import allocated, copied
from lazytensor.core.device.padded import Padded
from lazytensor.core.device.processes import cluster
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.errors import ShardingError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from lazytensor.core.device.processes import Cluster, Messages, Watch
    from lazytensor.core.ir.assumptions import Assumptions
    from lazytensor.core.ir.program import Program
    from lazytensor.core.ir.recording import Place
    from lazytensor.core.ir.sharding import Sharding
    from lazytensor.core.ir.types import TensorType

HOST_PLATFORM: Final = "cpu"
"""The platform whose memory is the host's."""
_provided: Final[list[str]] = []
"""The name of the module that is the backend."""
_guesses: Final[list[Callable[[], bool]]] = []
"""What guesses where that backend will run programs."""
_cpus: Final[list[Callable[[], int]]] = []
"""What says as how many devices a CPU is shown."""
_platforms: Final[list[str]] = []
"""The backend's platform, once it is there."""
T = TypeVar("T")


class Effort(Enum):
    """How a program is compiled."""

    WAITED = auto()
    """Somebody waits. Forms that are not known yet are measured."""
    APART = auto()
    """By threads that leave processors to all others; unknown forms are the likely ones."""
    MEASURED = auto()
    """By such threads; unknown forms are measured."""


class Collective(NamedTuple):
    """An exchange between the devices of a mesh within a program.

    kind: XLA's name, as `all-reduce`. nbytes: of the results on one device. instructions: those of
    the program that it is for.
    """

    kind: str
    nbytes: int
    instructions: tuple[int, ...]


class Within(NamedTuple):
    """Where a process's part of an array begins on each axis, and the shape of the whole."""

    shape: tuple[int, ...]
    start: tuple[int, ...]


class Compiled(Protocol):
    """A program that was compiled for a target and is not run.

    seconds: that the compile took. kernels: of one run, those of a loop's body once. nbytes: that
    they read and write. memory: bytes that a run needs besides its inputs and results. calls: the
    library routines, each with how often it is called. text: the compiled program.
    """

    @property
    def seconds(self) -> float: ...
    @property
    def kernels(self) -> Sequence[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def calls(self) -> Mapping[str, int]: ...
    @property
    def text(self) -> str: ...


class Executable(Protocol):
    """A compiled program.

    `is_provisional`: whether it has forms that were not measured. `calls_back`: whether the host
    runs a part of it, so that a run is waited for (`garbage.uncollected`). `shardings`: those of
    its results, if it runs on a mesh. `smallest`: the position of its smallest result.
    """

    is_provisional: bool
    calls_back: bool
    shardings: tuple[Sharding, ...]
    smallest: int

    def start(self, buffers: list[Any]) -> Iterator[list[Any]]:
        """Run: parameters in order, then what `Backend.slots` makes of the packed data slots.

        The program runs when the one element is taken, by C code alone: no signal handler comes
        between the run, which uses donated buffers up, and its results.
        """

    def serialize(self) -> bytes:
        """Bytes that `Backend.load` takes."""

    def temporary_bytes(self) -> int:
        """Bytes that a run needs besides its inputs and results; 0 if that is not known."""

    def collectives(self) -> list[Collective]:
        """The exchanges between devices, if it runs on a mesh."""


class Imported(NamedTuple):
    """A module from elsewhere: its text without what depends on where it was made, its types."""

    text: str
    operands: tuple[TensorType, ...]
    results: tuple[TensorType, ...]


class Backend(Protocol):
    """A compiler and the devices it compiles for."""

    def compile(
        self,
        program: Program,
        assumed: Assumptions,
        donated: Sequence[tuple[int, int]],
        places: Sequence[Place | None],
        effort: Effort = Effort.WAITED,
    ) -> Executable:
        """Compile.

        `donated`: pairs (position among the parameters, position among the outputs). `places`:
        where each instruction was recorded.
        """

    def load(self, data: bytes, program: Program) -> Executable:
        """The executable of `program` that was serialised. Raises: `CorruptExecutable`."""

    def stablehlo(self, program: Program) -> str:
        """The module that `compile` would emit, every slot as data."""

    def compiled_for(self, program: Program, target: str) -> Compiled:
        """Compile for a device that need not be here. Raises: see `inspection.program.Program`."""

    def imported(self, text: str) -> Imported:
        """A StableHLO module from elsewhere, read. Raises: Unsupported if it cannot be inlined."""

    def fingerprint(self) -> bytes:
        """What a serialised executable is only good for: versions, options, machine features."""

    def to_device(self, array: np.ndarray, *, owned: bool) -> Any:
        """A device buffer; `owned` allows it to alias `array`, which nobody will write to."""

    def slots(self, packed: Sequence[np.ndarray]) -> list[Any]:
        """The buffers that an executable of one device takes after its parameters: its data.

        packed: per dtype that has data slots, their values.
        """

    def to_host(self, buffer: Any) -> np.ndarray:
        """A fresh, writable copy."""

    def host_view(self, buffer: Any) -> np.ndarray:
        """A read-only array of the buffer's memory, or a fresh, writable copy."""

    def platform(self) -> str:
        """What programs run on. The memory of "cpu" is the host's: `host_view` takes no copy."""

    def device_count(self) -> int:
        """The number of devices of this process; programs run on the first by default."""

    def copy(self, buffer: Any) -> Any:
        """A second buffer with the same contents."""

    def place(self, array: np.ndarray, sharding: Sharding, within: Within | None = None) -> Any:
        """A buffer with the array's parts on the devices of a mesh.

        within: where the array lies in the whole, if it is this process's part only.
        """

    def parts(self, buffer: Any) -> Iterator[tuple[tuple[slice, ...], Any]]:
        """The parts on this process's devices of a mesh, each once: its region, a buffer."""

    def join(self, members: Cluster, seconds: float, watch: Watch) -> Messages:
        """Connect with the other processes of a cluster.

        seconds: how long they may take to come. watch: is asked while results are waited for that
        others take part in. Raises: ProcessError if they do not come, or a mesh is in use already.
        """

    def copy_sharded(self, buffer: Any, sharding: Sharding) -> Any:
        """A second buffer with the same parts."""

    def first_part(self, buffer: Any) -> Any:
        """The part on a mesh's first device, as a buffer of one device."""

    def wait(self, buffer: Any) -> None:
        """Return when the buffer has its contents."""

    def allocated(self) -> int:
        """Bytes of the buffers that are alive."""


def provide(module: str, is_apart_likely: Callable[[], bool], cpus: Callable[[], int]) -> None:
    """Let the module of this name be the backend.

    is_apart_likely: guesses the answer of `is_apart` until the backend is imported. cpus: says as
    how many devices a CPU is shown.
    """
    _provided[:], _guesses[:], _cpus[:] = [module], [is_apart_likely], [cpus]


@cache
def backend() -> Backend:
    """The backend, imported now if it was not."""
    made = cast(Backend, imported(*_provided))
    _platforms.append(made.platform())
    return made


def platform() -> str:
    """The platform that programs run on; "" before the backend is there."""
    return _platforms[-1] if _platforms else ""


def is_apart() -> bool:
    """Whether programs run on a device whose memory the host cannot look at.

    Before the backend is there, and all values are the host's: whether that is likely.
    """
    if _platforms:
        return _platforms[-1] != HOST_PLATFORM
    return bool(_guesses) and _guesses[0]()


def device_count() -> int:
    """How many devices this process has. The backend is asked, and imported, for accelerators."""
    return backend().device_count() if is_apart() else _cpus[0]()


def imported(module: str) -> Any:
    """The module of this name, imported undisturbed. NumPy's random stream stays where it is."""
    return undisturbed(partial(_import, module))


def undisturbed(function: Callable[[], T]) -> T:
    """`function()`, in a thread of its own: a Ctrl-C ends the waiting for it, and not itself.

    What imports parts of jax could otherwise be left half imported, and unusable from then on.
    """
    # A finalizer in that thread might wait for a lock of this one. That thread could not prevent
    # it: what it allocates first may bring about a collection.
    with garbage.uncollected():
        return in_thread(gil.resting_alike(function)).result()


def in_thread(function: Callable[[], T]) -> Future[T]:
    """The future result of `function()`, which a thread of its own runs."""
    from concurrent.futures import Future  # takes milliseconds

    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(function())
        except BaseException as error:  # noqa: BLE001  it is for who waits
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done


def _import(module: str) -> Any:
    random: Any = np.random  # whose stubs know only half of it
    stream = random.get_bit_generator()
    random.set_bit_generator(random.MT19937())  # what jax's import draws is not the user's
    try:
        return import_module(module)
    finally:
        random.set_bit_generator(stream)
        garbage.promote()


def is_loaded() -> bool:
    """Whether the backend has been imported."""
    return _provided[0] in sys.modules


def is_host(value: Any) -> bool:
    """Whether a leaf's value is a NumPy array rather than a device buffer."""
    return isinstance(value, np.ndarray)


def on_host(value: Any) -> np.ndarray:
    """A leaf's value as a NumPy array that must not be written to."""
    if isinstance(value, np.ndarray):
        return value
    if value.__class__ is Padded:
        return value.trimmed(backend().host_view(value.buffer))
    if value.__class__ is Sharded:
        return gathered(value)
    return backend().host_view(value)


def gathered(value: Sharded, show: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
    """A split array on the host: of its own, or a read-only view of one device's copy.

    show: what to show of it, where that is not all; then only the parts that it needs are copied.
    """
    there = backend()
    if value.sharding.is_replicated:
        whole = there.host_view(next(there.parts(value.buffer))[1])
        return whole if show is None else copied(show(whole))
    if cluster() is not None:
        text = f"an array with {value.sharding} has parts in other processes"
        raise ShardingError(f"{text}: every process must look at it, in the same order")
    whole = allocated(value.buffer.shape, np.dtype(value.buffer.dtype))
    seen = whole if show is None else show(whole)
    is_view = np.may_share_memory(seen, whole)
    for region, part in there.parts(value.buffer):
        place = whole[region]
        if not is_view or np.may_share_memory(place, seen):
            place[...] = there.host_view(part)
    if show is None:
        return whole
    return copied(seen if is_view else show(whole))
