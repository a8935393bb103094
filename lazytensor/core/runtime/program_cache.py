"""What is known of each program that was run: its executable, its variants, its timings."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.device.backend import Executable
from lazytensor.core.interpreter.ready_program import ReadyProgram
from lazytensor.core.interpreter.work import Work, extent_of
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.program import Program
from lazytensor.core.observe import metrics
from lazytensor.core.observe.recompile_reason import Change
from lazytensor.core.passes.bucketing.compare import SlottedProgram
from lazytensor.core.passes.bucketing.pad import Link
from lazytensor.core.passes.donation import donations
from lazytensor.core.passes.scalar_expression import Recipe
from lazytensor.core.passes.specialize import Packed, SlotHistory
from lazytensor.core.policy import TRIALS
from lazytensor.core.runtime.locking import Elsewhere
from lazytensor.core.runtime.tier_timing import Costs
from lazytensor.core.settings import settings


class Entry(Costs):
    """What is known of one program.

    `extent`: how much it computes. `donated`: pairs (parameter position, output position) that the
    executable overwrites, made when the inputs `owned` were not shared; `disowned`: runs when it
    was others, `outdated`: whether these are more. `job`: what is under way in the background;
    `sought`: whether a job has not found it on disk; `arrived`: how the last job got the executable
    and why, until that is run; `refused`: whether XLA could not compile it. `twin`: what is run in
    its place (see `equivalent_programs.py`). `growth`: what is known of its sizes, and `padded`:
    that it is a program made with room for more (see `passes/bucketing`). `compiled_by`: the thread
    that compiles it just now and is waited for. `keys`: those of the graphs that gave the program,
    one where each operation has one signature. `agreed`: the number of the check by which several
    processes run the same (see `peers.py`). `is_plain`: whether it may be run the short way (see
    `replay_program.py`); `broken`: whether a guard was false in its last run. `ready`: the program,
    ready to be run by the host.
    """

    __slots__ = (
        "__weakref__", "agreed", "arrived", "broken", "compiled_by", "disowned", "donated",
        "executable", "extent", "growth", "history", "is_plain", "job", "keys", "outdated", "owned",
        "padded", "program", "ready", "refused", "sought", "twin",
    )  # fmt: skip

    def __init__(
        self,
        program: Program,
        history: SlotHistory | None = None,
        spent: float = 0.0,
        runs: int = 0,
    ) -> None:
        self.program = program
        self.extent: Work = extent_of(program)
        extent = self.extent
        super().__init__(program.size, extent.operations, extent.elements, spent, runs)
        self.history = history or SlotHistory()
        self.executable: Executable | None = None
        self.donated: tuple[tuple[int, int], ...] = ()
        self.owned: Sequence[bool] = ()
        self.disowned, self.outdated = 0, False
        self.job: Any = None
        self.sought = self.refused = False
        self.arrived: tuple[str, Change | None] | None = None
        self.twin: Twin | None = None
        self.growth: Growth | None = None
        self.padded = False
        self.compiled_by = 0
        self.keys: list[bytes] = []
        self.agreed = -1
        self.is_plain = self.broken = False
        self.ready: ReadyProgram | None = None

    def observe(self, packed: Packed, owned: list[bool]) -> None:
        """Take note of one more run: its slots, and which inputs nobody else needs.

        An executable that assumed other slots is let go. Once, one is outdated that was made when
        more of the inputs were shared than in most runs, as a first run's often are.
        Raises: Elsewhere, while another thread compiles it for the slots that it was to assume.
        """
        if self.compiled_by and self.compiled_by != threading.get_ident():
            raise Elsewhere
        if not self.history.allows(packed):
            self.executable, self.sought = None, False  # first: a Ctrl-C may come in between
            self.history.observe(packed)
        elif self.executable is not None and owned != self.owned:
            self.disowned += 1
            if self.disowned == TRIALS:
                self.outdated = len(donations(self.program, owned)) > len(self.donated)

    def owe(self, seconds: float) -> None:
        """Take note of seconds of work that interpreting it took."""
        self.spent += seconds
        cache.spent += seconds
        if self.growth is not None:
            self.growth.family.spent += seconds


class Twin(NamedTuple):
    """Another program's entry, and how it is run in one's place.

    `leaves`, `outputs`: per parameter and output of the other program, the position in this one.
    `slots`: the other's slots that are set, each from what. `fixed`: numbers that must have these
    bits in this dtype. `values`: the other's slots that are not set.
    """

    entry: Entry
    leaves: tuple[int, ...]
    outputs: tuple[int, ...]
    slots: tuple[tuple[int, Recipe], ...]
    fixed: tuple[tuple[Recipe, np.dtype, bytes], ...]
    values: tuple[Any, ...]


@dataclass
class Family:
    """Programs that differ in sizes, or not even in these.

    `sizes`: how many there were. `sides`: the last of them. `varying`: slots that were not always
    the same. `last`: the entry that a program was padded to last. `refusals`: how many could not
    be padded. `wanted`: the number of sizes from which padding is tried. `spent`: seconds spent
    interpreting those that have no room, since one got it.
    """

    wanted: int
    sizes: int = 0
    refusals: int = 0
    sides: list[SlottedProgram] = field(default_factory=list)
    varying: set[int] = field(default_factory=set)
    last: Entry | None = None
    spent: float = 0.0


@dataclass
class Growth:
    """What is known of a program's sizes.

    `entry`: the program with room, once there is one, and the `link` to it. `refusal`: why there is
    none. `wasted`: seconds that this program has lost by being padded.
    """

    family: Family
    entry: Entry | None = None
    link: Link | None = None
    refusal: str = ""
    wasted: float = 0.0


def _computed(program: Program) -> tuple[Any, ...]:
    """What programs have in common that differ in their outputs only."""
    return program.instructions, program.placement


class Cache:
    """Entries by program, least recently used first; programs are compared whole."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Program, Entry] = OrderedDict()
        self._by_key: dict[bytes, Entry] = {}
        self._by_instructions: dict[tuple[Any, ...], list[Entry]] = {}
        self.lock = threading.RLock()
        self.spent = 0.0
        """Seconds spent interpreting, whatever program."""
        self.calls: dict[Op[Any], Any] = {}
        """Programs that are one call of an op (see `replay_call.py`)."""
        self.families: dict[int, Family] = {}
        """Programs that are the same but for sizes (see `shape_buckets.py`)."""

    def known(self, key: bytes) -> Entry | None:
        """The entry of the program that a graph with this key gave before."""
        with self.lock:
            entry = self._by_key.get(key)
            if entry is not None:
                self._entries.move_to_end(entry.program)
            return entry

    def find(self, program: Program, key: bytes | None = None) -> Entry:
        """The entry of this program, made now if it is new. `key`: that of the graph it is of."""
        with self.lock:
            entry = self._entries.get(program)
            if entry is None:
                entry = self._add(program)
            else:
                self._entries.move_to_end(program)
            if key is not None:
                self._by_key[key] = entry
                entry.keys.append(key)
            return entry

    def _add(self, program: Program) -> Entry:
        entry = Entry(program, SlotHistory(program.data))
        self._by_instructions.setdefault(_computed(program), []).append(entry)
        self._entries[program] = entry
        while len(self._entries) > settings.programs:
            _, old = self._entries.popitem(last=False)
            for key in old.keys:
                del self._by_key[key]
            siblings = self._by_instructions[_computed(old.program)]
            siblings.remove(old)
            if not siblings:
                del self._by_instructions[_computed(old.program)]
            self.calls.clear()
            metrics.count("evictions")
        return entry

    def superset(self, program: Program, packed: Packed) -> Entry | None:
        """A compiled entry with the same instructions and more outputs, good for these slots."""
        wanted = set(program.outputs)
        for entry in self._by_instructions.get(_computed(program), ()):
            if entry.executable is None or not wanted < set(entry.program.outputs):
                continue
            if entry.history.allows(packed):
                return entry
        return None

    def entries(self) -> list[Entry]:
        """Every entry, least recently used first."""
        with self.lock:
            return list(self._entries.values())

    def clear(self) -> None:
        """Forget every program."""
        with self.lock:
            self.spent = 0.0
            self._entries.clear()
            self._by_key.clear()
            self._by_instructions.clear()
            self.calls.clear()
            self.families.clear()


cache: Final = Cache()
ran: Final[list[Callable[[Entry, bool, float], None]]] = []
"""Called after each run of a cut, on the stack that asked for it. Arguments: the program's entry;
whether the results were waited for; how many times as much was computed as was recorded."""
