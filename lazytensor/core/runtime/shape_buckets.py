"""Families: programs that are the same but for sizes, and when one with room takes their place."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Cut, Program
from lazytensor.core.observe import metrics
from lazytensor.core.passes.bucketing.compare import Opened, Refused, SlottedProgram, opened
from lazytensor.core.passes.bucketing.pad import FIRST_CAPACITY, Roomy, roomy
from lazytensor.core.passes.scalar_expression import Constant
from lazytensor.core.passes.specialize import pack
from lazytensor.core.policy import TRIALS
from lazytensor.core.runtime.cost_model import estimate, may_import, price_of
from lazytensor.core.runtime.program_cache import Entry, Family, Growth, cache
from lazytensor.core.runtime.run import Run
from lazytensor.core.settings import settings

SIZES_BEFORE_ROOM: Final = 3
"""Sizes of a program from which it is padded: two may be all there are, as a last batch."""
SECONDS_PER_WASTED_ELEMENT: Final = 2.5e-10
"""What an element costs a compiled program that need not have computed it."""
RUNS_OF_WASTE: Final = 500
"""Runs whose elements beyond their size may cost as much as the compile that is saved."""
NEXT_SIZE_SHARE: Final = 0.125
"""Share of a compile's price that a family has cost when more of its sizes get room: to look at one
size takes as long as NumPy may take to run it."""


def _types(program: Program) -> list[Any]:
    return [line[3] for line in program.instructions]


def padded(run: Run) -> Run | None:
    """The same run as one of the program with room; None if it has none."""
    if run.exact is not None or run.entry.executable is not None or run.request.once:
        return None
    if not settings.padding or settings.tier == "interpret" or run.entry.program.needs_backend:
        return None
    growth = run.entry.growth or _met(run)
    if growth.refusal:
        return None
    if growth.entry is None:
        family = growth.family
        if family.sizes < family.wanted or not _pays(family, estimate(run.entry)):
            return None
        try:
            _pad(run, growth)
        except Refused as refused:
            growth.refusal = str(refused)
            _refused(family)
            metrics.count("unpadded")
            return None
    return _translated(run, growth)


def remark(run: Run) -> str:
    """What to say of a program's sizes where it has to be compiled."""
    growth = run.entry.growth
    if growth is None or growth.family.sizes < SIZES_BEFORE_ROOM:
        return ""
    if growth.refusal:
        return f"; no room is made for more: {growth.refusal}"
    link = growth.link
    return "" if link is None else f"; sizes up to {link.capacity} are one program from now on"


def refuse(run: Run, reason: str) -> None:
    """The program has no room from now on."""
    growth = run.entry.growth
    if growth is not None:
        growth.refusal, growth.entry = reason, None


def _met(run: Run) -> Growth:
    """Find the program's family."""
    program = run.found.program
    family = cache.families.setdefault(_key(program), Family(wanted=SIZES_BEFORE_ROOM))
    while len(cache.families) > settings.programs:
        del cache.families[next(iter(cache.families))]
    _meet(family, SlottedProgram(program, run.found.slots))
    growth = run.entry.growth = Growth(family)
    return growth


def _meet(family: Family, side: SlottedProgram) -> None:
    """Take note of one more program."""
    family.sizes += 1
    for last in family.sides[-1:]:
        pairs = enumerate(zip(side.slots, last.slots, strict=False))
        family.varying.update(i for i, (a, b) in pairs if repr(a) != repr(b))
    family.sides = [*family.sides[1 - TRIALS :], side]


def _refused(family: Family) -> None:
    """Take note of one that cannot be padded: laying two side by side costs a millisecond."""
    family.refusals += 1
    if family.refusals >= TRIALS:
        family.wanted = 2 * family.sizes


def _pays(family: Family, seconds: float) -> bool:
    """Whether to make room for one more size, whose run takes these seconds.

    It does where a program with room has been compiled, or soon may be.
    """
    last = family.last
    if last is None or last.executable is not None or settings.tier != "auto":
        return True
    price = price_of(last.operations)
    debt = last.spent + family.spent + seconds
    return debt >= NEXT_SIZE_SHARE * price and may_import(price, seconds)


def _key(program: Program) -> int:
    """Equal for programs that are the same but for sizes; hardly ever for others.

    Programs of one key are compared before anything is made of it.
    """
    lines = ((op, operands, _kind(type)) for op, operands, _, type in program.instructions)
    return hash((tuple(lines), program.outputs))


def _kind(type: Any) -> Any:
    return tuple(map(_kind, type)) if isinstance(type, tuple) else (type.dtype.num, type.ndim)


def _pad(run: Run, growth: Growth) -> None:
    """Make the program with room. Raises: Refused."""
    family, mine = growth.family, SlottedProgram(run.found.program, run.found.slots)
    types = _types(mine.program)
    other = next((s for s in reversed(family.sides) if _types(s.program) != types), None)
    if other is None:
        raise Refused("there is but one program of its kind")
    lines = opened(mine, other)
    made = roomy(lines, mine.slots, family.varying)
    if made.link.capacity < FIRST_CAPACITY:
        made = _with_much_room(lines, mine, family) or made
    if _wasted(made) > price_of(made.program.size):
        raise Refused("most of the elements lie beyond its size")
    entry = cache.find(made.program)
    if entry.program is made.program:
        _prepare(run, entry, family, made)
    entry.spent += family.spent
    family.spent = 0.0
    growth.entry, growth.link = entry, made.link


def _with_much_room(lines: Opened, mine: SlottedProgram, family: Family) -> Roomy | None:
    """The program with room for `FIRST_CAPACITY`, if that costs next to nothing."""
    try:
        made = roomy(lines, mine.slots, family.varying, FIRST_CAPACITY)
    except Refused:  # a large array would grow on two axes
        return None
    return made if RUNS_OF_WASTE * _wasted(made) <= price_of(made.program.size) else None


def _wasted(made: Roomy) -> float:
    """Seconds a run that elements beyond the size take."""
    return made.link.waste * SECONDS_PER_WASTED_ELEMENT


def _prepare(run: Run, entry: Entry, family: Family, made: Roomy) -> None:
    """Note where a program with room comes from."""
    program, entry.padded = entry.program, True
    places = run.entry.program.places
    program.places = tuple(places[i] for i in made.origins) if places else ()
    program.cut_at = run.entry.program.cut_at
    last = family.last
    if last is not None and last.executable is not None and not last.trial.interprets():
        entry.spent = price_of(program.size)  # it will come back as often as the last one did
    family.last = entry


def _translated(run: Run, growth: Growth) -> Run | None:
    entry, link = growth.entry, growth.link
    assert entry is not None
    assert link is not None
    given = run.found.slots
    if any(given[position][axis] != 0 for position, axis in link.fixed):
        return None
    growth.wasted += link.waste * SECONDS_PER_WASTED_ELEMENT
    if growth.wasted > price_of(entry.operations):
        run.entry.spent += growth.wasted
        refuse(run, "its size came again and again")
        return None
    slots = [s.value if isinstance(s, Constant) else given[s.position] for s in link.slots]
    program = entry.program
    packed = pack(program, slots)
    entry.observe(packed, run.owned)
    nodes: list[Node | None] = [None] * len(program.instructions)
    for at, origin in link.guards:  # whose errors name their lines
        nodes[at] = run.found.nodes[origin]
    found = Cut(program, nodes, run.found.leaves, slots)
    return run._replace(
        entry=entry, found=found, packed=packed, recorded=run.found.program, exact=run
    )
