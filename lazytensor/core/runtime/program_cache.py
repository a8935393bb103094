"""The compile cache in memory, and the policy of tiers.

A program that is new and small is interpreted; what interpreting it has cost is added up, and once
that reaches what compiling it would cost, it is compiled. So nothing ever takes much more than
twice as long as the better of the two would have. Some programs NumPy runs faster all the same:
the first compiled runs are timed, and the faster tier is kept (`Trial`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lazytensor.core.device.backend import Executable, is_loaded
from lazytensor.core.interpreter.work import Extent, extent_of
from lazytensor.core.ir.program import Program
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import donations
from lazytensor.core.passes.specialize import Packed, SlotHistory
from lazytensor.core.runtime.locking import Elsewhere
from lazytensor.core.runtime.tier_timing import WARMING, Trial
from lazytensor.core.settings import settings

if TYPE_CHECKING:
    from lazytensor.core.runtime.equivalent_programs import Twin
    from lazytensor.core.runtime.shape_buckets import Family, Growth

SECONDS_PER_ELEMENT: Final = 2e-9
SECONDS_PER_NODE: Final = 3e-6
SECONDS_PER_STEP: Final = 1.2e-6
"""What the interpreter needs for an operation besides NumPy's time."""
SECONDS_PER_BYTE: Final = 5e-11
"""What it takes to copy an array."""
LEAST_SHARE: Final = 0.25
"""Of NumPy's time what XLA is taken to need at the least, where it was never tried."""
FUSED_SHARE: Final = 0.1
"""The same of long chains of operations, of which only ends are read and written."""
SECONDS_PER_CALL: Final = 4e-5
"""What it takes to start a compiled program, and to wait for it."""
COMPILE_SECONDS: Final = 0.08
COMPILE_SECONDS_PER_NODE: Final = 3e-3
"""Processor seconds: of 34 programs of 1 to 450 operations that were measured, half took from
half of this to twice as much."""
IMPORT_SECONDS: Final = 0.7
KNOWN_SHARE: Final = 0.25
"""Of what else would have to be spent before jax is imported, for what is known to pay for that."""
HESITATION: Final = 1.5
"""How many times its price a program must have cost that is not on disk, where others were: an
earlier process has found it too little. Else one near its price is compiled now and then for ever.
"""
WORTH_A_LOOK: Final = 0.003
"""Seconds of interpreting after which a program is looked for on disk."""
PATIENCE: Final = 3
"""Runs with other inputs shared than when a program was compiled, until that is looked at again."""
MANY: Final = 16
"""Sizes of a program that has no room for more, from which the next ones are taken to come once."""
EAGER_AFTER: Final = 8
"""Runs after which a program is compiled at half the price: it will come back again."""
MOST_EAGER: Final = 4.0
"""The price is divided by this at the most, however often a program has come back."""


@dataclass(slots=True, weakref_slot=True)
class Entry:
    """What is known of one program.

    `spent`: seconds spent interpreting it. `donated`: pairs (parameter position, output position)
    that the executable overwrites, made when the inputs `owned` were not shared; `disowned`: runs
    when it was others. `sought`: the donations of the executable that was not found on
    disk. `host`: indices of instructions that the host runs, once known; `hosted`: whether all
    else costs next to nothing, so that the interpreter runs the whole. `trial`: how tiers compare.
    `shared`: what the host may run at the end, once known; `sharing`: how that and XLA compare.
    `twin`: what is run in its place (see `equivalent_programs.py`). `growth`: what is known of its
    sizes, and `padded`: that it is a program made with room for more (see `passes/bucketing`).
    `compiled_by`: the thread that compiles it just now. `pays`: see `is_known_to_pay`, once known.
    """

    program: Program
    history: SlotHistory = field(default_factory=SlotHistory)
    executable: Executable | None = None
    donated: tuple[tuple[int, int], ...] = ()
    spent: float = 0.0
    runs: int = 0
    owned: Sequence[bool] = ()
    disowned: int = 0
    sought: tuple[tuple[int, int], ...] | None = None
    host: tuple[int, ...] | None = None
    hosted: bool = False
    trial: Trial = field(default_factory=Trial)
    shared: tuple[int, ...] | None = None
    sharing: Trial = field(default_factory=Trial)
    twin: Twin | None = None
    growth: Growth | None = None
    padded: bool = False
    compiled_by: int = 0
    pays: bool | None = None
    _extent: Extent | None = None

    def observe(self, packed: Packed, owned: list[bool]) -> None:
        """Take note of one more run: its slots, and which inputs nobody else needs.

        An executable that assumed other slots is let go; so is, once, one that was made when more
        of the inputs were shared than in most runs, as a first run's often are.
        Raises: Elsewhere, while another thread compiles it for the slots that it was to assume.
        """
        if self.compiled_by and self.compiled_by != threading.get_ident():
            raise Elsewhere
        if not self.history.allows(packed):
            self.executable = self.sought = None  # first: a Ctrl-C may come in between
            self.history.observe(packed)
        elif self.executable is not None and owned != self.owned:
            self.disowned += 1
            if self.disowned == PATIENCE:
                more = len(donations(self.program, owned)) > len(self.donated)
                self.executable = None if more else self.executable

    @property
    def extent(self) -> Extent:
        """How much it computes."""
        if self._extent is None:
            self._extent = extent_of(self.program)
        return self._extent

    @property
    def estimate(self) -> float:
        """Seconds that NumPy needs for it, as far as its text says."""
        return self.extent.elements * SECONDS_PER_ELEMENT + self.program.size * SECONDS_PER_NODE

    @property
    def debt(self) -> float:
        """Seconds spent interpreting it, one more run included: as long as the others, if known."""
        return self.spent + (self.spent / self.runs if self.spent and self.runs else self.estimate)

    def gain(self, seconds: float, cutting: float = 0.0, room: float = 1.0) -> float | None:
        """How much longer NumPy takes than a run of so many seconds; None while it is not known.

        `cutting`: those of them in which processors did nothing else. `room`: how many times as
        much the program computes as what was recorded.
        """
        if self.executable is not None and not self.spent:  # so large that it was compiled at once
            return self.estimate - seconds
        gain = self.trial.gain(seconds * room, cutting * room)
        return None if gain is None else gain / room - self.detour

    @property
    def detour(self) -> float:
        """Seconds by which the interpreter is slower than NumPy by itself.

        It has steps to look up, and what is written to a part of an array it computes elsewhere
        and copies, where NumPy computes it in its place.
        """
        return self.program.size * SECONDS_PER_STEP + self.extent.replaced * SECONDS_PER_BYTE

    def most_gain(self, seconds: float, is_small: bool = False) -> float | None:
        """What there is to gain if XLA were as fast as it can be; of a run by NumPy in `seconds`.

        That is NumPy's own time less what XLA and a cut take besides. None where XLA has had a
        chance, and for the first runs, in which everything is new. `is_small`: there is nothing to
        gain, as all arrays are smaller than those that are recorded.
        """
        least = self.trial.least()
        if self.executable is not None or self.runs <= WARMING or least is None:
            return None
        if is_small:
            return least[1] - seconds - self.detour
        program = self.program
        moved = (len(program.parameters) + len(program.results)) / program.size
        share = min(max(moved, FUSED_SHARE), LEAST_SHARE)
        gain = (1.0 - share) * (least[0] - self.detour)
        return gain - SECONDS_PER_CALL - (seconds - least[1])

    def comes_once(self) -> bool:
        """Whether it was new, as are all the programs of a loop in which each has other sizes."""
        family = None if self.growth is None else self.growth.family
        many = family is not None and family.refusals > 0 and family.sizes >= MANY
        return many and self.runs <= 1 and self.executable is None

    def owe(self, seconds: float) -> None:
        """Take note of seconds of work that interpreting it took."""
        self.spent += seconds
        cache.spent += seconds
        if self.growth is not None:
            self.growth.family.spent += seconds

    def is_worth_a_look(self) -> bool:
        """Whether looking for it on disk costs little against what it has cost already.

        That takes jax, which is imported sooner for what is known to pay for it.
        """
        if not settings.disk or self.debt < WORTH_A_LOOK:
            return False
        if is_loaded():
            return True
        return cache.may_import(0.0, self.estimate, KNOWN_SHARE) and self.is_known_to_pay()

    def is_known_to_pay(self) -> bool:
        """Whether XLA has saved more than its import took in an earlier process that ran this."""
        if self.pays is None:
            # Most processes do not need its imports.
            from lazytensor.core.runtime import disk_cache

            self.pays = settings.disk and disk_cache.pays(self.program)
        return self.pays

    @property
    def saved(self) -> float:
        """Seconds that XLA saves in as many runs as there were, as far as both were timed."""
        saved = self.trial.saved()
        if saved is None:  # not spent: it is so large that it was compiled at once
            saved = 0.0 if self.spent else self.estimate
        return self.runs * saved

    def should_compile(self) -> bool:
        """Whether compiling pays now (see the module's text)."""
        if settings.tier != "auto":
            return settings.tier == "compile"
        price = price_of(self.program)
        if self.sought is not None and cache.loaded:
            price *= HESITATION
        if not cache.may_import(price, self.estimate):
            return False
        saved = self.debt - self.runs * SECONDS_PER_CALL
        return saved * min(1 + self.runs / EAGER_AFTER, MOST_EAGER) > price


def price_of(program: Program) -> float:
    """Seconds that compiling a program takes, roughly."""
    return COMPILE_SECONDS + program.size * COMPILE_SECONDS_PER_NODE


class Cache:
    """Entries by program, least recently used first; programs are compared whole."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Program, Entry] = OrderedDict()
        self._by_instructions: dict[tuple[Any, ...], list[Entry]] = {}
        self.lock = threading.RLock()
        self.spent = 0.0
        """Seconds spent interpreting, whatever program."""
        self.loaded = 0
        """Executables loaded from disk."""
        self.alone: dict[tuple[Any, ...], Any] = {}
        """Programs of one operation, by what that is (see `replay_op.py`)."""
        self.families: dict[int, Family] = {}
        """Programs that are the same but for sizes (see `shape_buckets.py`)."""

    def may_import(self, price: float, seconds: float, share: float = 1.0) -> bool:
        """Whether jax is there, or its import and a compile have paid, one more run included.

        Or a share of them. However often a program has come back: a loop may end before.
        """
        return is_loaded() or self.spent + seconds >= share * (IMPORT_SECONDS + price)

    def find(self, program: Program) -> Entry:
        """The entry of this program, made now if it is new."""
        with self.lock:
            entry = self._entries.get(program)
            if entry is None:
                return self._add(program)
            self._entries.move_to_end(program)
            return entry

    def _add(self, program: Program) -> Entry:
        entry = Entry(program, SlotHistory(program.data))
        self._by_instructions.setdefault(program.instructions, []).append(entry)
        self._entries[program] = entry
        while len(self._entries) > settings.programs:
            _, old = self._entries.popitem(last=False)
            siblings = self._by_instructions[old.program.instructions]
            siblings.remove(old)
            if not siblings:
                del self._by_instructions[old.program.instructions]
            self.alone.clear()
            metrics.count("evictions")
        return entry

    def superset(self, program: Program, packed: Packed) -> Entry | None:
        """A compiled entry with the same instructions and more outputs, good for these slots."""
        wanted = set(program.outputs)
        for entry in self._by_instructions.get(program.instructions, ()):
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
            self.spent, self.loaded = 0.0, 0
            self._entries.clear()
            self._by_instructions.clear()
            self.alone.clear()
            self.families.clear()


cache: Final = Cache()
ran: Final[list[Callable[[Entry, float, float | None, float], None]]] = []
"""Called after each run of a cut, on the stack that asked for it. Arguments: the program's entry;
the seconds from the graph to its results; how many of them cutting took, or None if the results
were not waited for; how many times as much was computed as was recorded."""
