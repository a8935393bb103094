"""What sets a new program apart from the nearest one that is known, and the line that changed it.

Two instructions are alike if the same line of the user's recorded the same op. Two programs are
compared from both ends: what lies between what is alike at the start and at the end has changed;
if nothing does, a type, an attribute or the set of live results has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from lazytensor.core.ir.op import DATUM, PARAMETER
from lazytensor.core.ir.program import INPUTS, SLOTS, Instruction, Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.source_location import describe
from lazytensor.core.ir.types import ResultType, TensorType
from lazytensor.core.passes.specialize import Packed, SlotHistory

FIRST_RUN: Final = "first"
SHAPE: Final = "shape"
GROWTH: Final = "growth"
DTYPE: Final = "dtype"
ATTRIBUTE: Final = "attribute"
OPERANDS: Final = "operands"
BRANCH: Final = "branch"
LOOP: Final = "loop"
INPUT: Final = "input"
LIVE: Final = "live"
SCALAR: Final = "scalar"
DONATION: Final = "donation"
SHARDING: Final = "sharding"
RUN_AGAIN: Final = "again"
MEASURED: Final = "measured"


class Change(NamedTuple):
    """Why a program is new: the kind of change, in words, and the line of the user's behind it."""

    kind: str
    text: str
    place: Place | None = None

    def __str__(self) -> str:
        return self.text if self.place is None else f"{self.text} at {describe(self.place)}"


class _Pair(NamedTuple):
    """A program and the one that it is compared with, and how many lines are alike at either end.

    `exact` operations of these were recorded at the same line of the user's.
    """

    new: Program
    old: Program
    start: int
    end: int
    exact: int

    @property
    def alike(self) -> float:
        """What part of both is alike."""
        return 2 * self.exact / max(self.new.size + self.old.size, 1)

    @property
    def equal(self) -> int:
        """How many instructions at the start are equal in all."""
        pairs = zip(self.new.instructions[: self.start], self.old.instructions, strict=False)
        return sum(new == old for new, old in pairs)

    @property
    def more(self) -> range:
        """What only the new one has."""
        return range(self.start, len(self.new.instructions) - self.end)

    @property
    def fewer(self) -> range:
        """What only the old one has."""
        return range(self.start, len(self.old.instructions) - self.end)


def change(program: Program, known: Sequence[Program]) -> Change:
    """What sets `program` apart from the nearest of `known`, later ones before earlier ones."""
    pairs = (_pair(program, other) for other in reversed(known) if other is not program)
    nearest = max(filter(_related, pairs), key=lambda p: (p.alike, p.equal), default=None)
    if nearest is None:
        return Change(FIRST_RUN, "the first program of its kind")
    changed = _of_types(nearest) or _of_inputs(nearest) or _of_preparation(nearest)
    changed = changed or _of_shardings(nearest)
    if changed is not None:
        return changed
    if nearest.more or nearest.fewer:
        return _of_structure(nearest)
    return _of_outputs(nearest)


def scalar_change(program: Program, history: SlotHistory, packed: Packed) -> Change:
    """Which number is not what an executable had taken for granted."""
    if history.first is not None:
        for index, (dtype, at) in program.slot_places.items():
            op, *_, type = program.instructions[index]
            if op is DATUM:
                continue
            size = type.size
            old, new = (v[dtype][at : at + size] for v in (history.first, packed))
            if old.tobytes() != new.tobytes():
                what = "the slice start" if size > 1 else "the scalar"
                user = _user(program, index)
                name = program.instructions[user][0].name
                values = f"{_numbers(new)} instead of {_numbers(old)}"
                text = f"{what} of {name} is {values} and became data"
                return Change(SCALAR, text, _place(program, user))
    return Change(SCALAR, "two scalars that were equal are not, and became data")


def _numbers(values: Any) -> str:
    numbers = values.tolist()
    return str(numbers[0] if len(numbers) == 1 else tuple(numbers))


def _pair(new: Program, old: Program) -> _Pair:
    shorter = min(len(new.instructions), len(old.instructions))
    start, exact = _alike(new, old, range(shorter))
    end, also = _alike(new, old, range(-1, start - shorter - 1, -1))
    return _Pair(new, old, start, end, exact + also)


def _alike(new: Program, old: Program, indices: range) -> tuple[int, int]:
    """How many instructions in a row are alike, and how many operations of them exactly.

    What was only moved (a function called from another line) is alike, but not exactly.
    """
    count = exact = 0
    for i in indices:
        op = new.instructions[i][0]
        if op is not old.instructions[i][0]:
            break
        place, other = _place(new, i), _place(old, i)
        if op in INPUTS:
            pass  # where an array came from is another question
        elif place == other:
            exact += 1
        elif place in old.places or other in new.places:
            break
        count += 1
    return count, exact


def _related(pair: _Pair) -> bool:
    """Whether the two are versions of one program: half is alike, or they were cut at one line."""
    if pair.new.cut_at is not None and pair.new.cut_at == pair.old.cut_at:
        return True
    return pair.exact > 0 and 2 * pair.exact >= min(pair.new.size, pair.old.size)


def _of_types(pair: _Pair) -> Change | None:
    """The first type or attribute that differs in what is alike at the start."""
    attribute = None
    for i in range(pair.start):
        op, _, attrs, type = pair.new.instructions[i]
        _, _, old_attrs, old_type = pair.old.instructions[i]
        if type is not old_type and op not in SLOTS:  # of numbers, what is made of them says more
            return _of_type(pair, i, i)
        if attrs != old_attrs and attribute is None:
            changed = ", ".join(
                f"{name}={new} instead of {old}"
                for name, new, old in zip(op.attributes, attrs, old_attrs, strict=True)
                if new != old
            )
            attribute = Change(ATTRIBUTE, f"{op.name} with {changed}", _place(pair.new, i))
    return attribute


def _of_inputs(pair: _Pair) -> Change | None:
    """The first input whose type differs, where there are as many of them."""
    new, old = pair.new.parameters, pair.old.parameters
    if len(new) == len(old):
        for i, j in zip(new, old, strict=True):
            if pair.new.instructions[i][3] is not pair.old.instructions[j][3]:
                return _of_type(pair, i, j)
    return None


def _of_shardings(pair: _Pair) -> Change | None:
    """The first input that is split another way, where all lines are alike."""
    if pair.more or pair.fewer or pair.new.placement == pair.old.placement:
        return None
    for i, new, old in zip(pair.new.parameters, *_shardings(pair), strict=False):
        if new is not old:
            words = ["on one device" if s is None else f"split as {s}" for s in (new, old)]
            place = _place(pair.new, i)
            return Change(SHARDING, f"an input is {words[0]} instead of {words[1]}", place)
    return Change(SHARDING, "results are split over other devices")


def _shardings(pair: _Pair) -> list[Sequence[Any]]:
    """The parameters' shardings in both programs."""
    return [p.shardings or (None,) * len(p.parameters) for p in (pair.new, pair.old)]


def _of_preparation(pair: _Pair) -> Change | None:
    """Other types in what is alike at the end, after operations that only one of the two has.

    Where the same lines have run before them, these have to be lines that are new or gone: a loop
    that goes round more often may make other types too.
    """
    lines, old_lines = pair.new.instructions, pair.old.instructions
    new, gone = _new_and_gone(pair)
    late = any(lines[i][0] not in INPUTS for i in range(pair.start))
    if late and new is None and gone is None:
        return None
    for i in range(pair.more.stop, len(lines)):
        j = i - len(lines) + len(old_lines)
        if lines[i][0] not in SLOTS and lines[i][3] is not old_lines[j][3]:
            found = _of_type(pair, i, j)
            if new is not None:
                return found._replace(place=_place(pair.new, new))
            return found._replace(place=_place(pair.old, gone)) if late and gone else found
    return None


def _new_and_gone(pair: _Pair) -> tuple[int | None, int | None]:
    """The first instruction of a line that only the new program has, or only the old one."""
    new = _first_not_in(pair.new, pair.more, pair.old)
    return new, _first_not_in(pair.old, pair.fewer, pair.new)


def _of_type(pair: _Pair, i: int, j: int) -> Change:
    op = pair.new.instructions[i][0]
    type: ResultType = pair.new.instructions[i][3]
    old: ResultType = pair.old.instructions[j][3]
    place = _place(pair.new, i)
    text = f"{'an input' if op in INPUTS else op.name} of type {type} instead of {old}"
    if not isinstance(type, TensorType) or not isinstance(old, TensorType):
        return Change(SHAPE, text, place)
    if type.shape == old.shape:
        return Change(DTYPE, text, place)
    if op is PARAMETER and _grows(type.shape, old.shape) and _computes(pair.old, place):
        return Change(GROWTH, f"{text}: it has grown", place)
    return Change(SHAPE, text, place)


def _computes(program: Program, place: Place | None) -> bool:
    """Whether something was computed at the place: the input is what the last round made."""
    lines = zip(program.instructions, program.places, strict=True)
    return place is not None and any(p == place and line[0] not in INPUTS for line, p in lines)


def _grows(new: tuple[int, ...], old: tuple[int, ...]) -> bool:
    """Whether one axis is longer and all others are as they were."""
    if len(new) != len(old):
        return False
    longer = [(n, m) for n, m in zip(new, old, strict=True) if n != m]
    return len(longer) == 1 and longer[0][0] > longer[0][1]


def _of_structure(pair: _Pair) -> Change:
    """Operations more, fewer, or others: a branch, a loop's bound, or more inputs."""
    unknown, gone = _new_and_gone(pair)
    if unknown is not None and gone is not None:
        text = f"{_name(pair.new, unknown)} instead of {_name(pair.old, gone)}"
        lines = describe(_place(pair.old, gone)), describe(_place(pair.new, unknown))
        text += f" ({lines[0]})" if lines[0] != lines[1] else ""
        return Change(BRANCH, text, _place(pair.new, unknown))
    if unknown is not None:
        text = f"{_count(pair.more, pair.new)} more: {_name(pair.new, unknown)} takes part now"
        return Change(BRANCH, text, _place(pair.new, unknown))
    if gone is not None:
        text = f"{_count(pair.fewer, pair.old)} fewer: {_name(pair.old, gone)} is left out now"
        return Change(BRANCH, text, _place(pair.old, gone))
    return _of_times(pair)


def _of_times(pair: _Pair) -> Change:
    """The same lines of the user's, run more or fewer times."""
    program, middle = (pair.new, pair.more) if pair.more else (pair.old, pair.fewer)
    at = next((i for i in middle if program.instructions[i][0] not in INPUTS), middle.start)
    place = _place(program, at)
    new, old = (_times(p)[_key(program, at)] for p in (pair.new, pair.old))
    name = program.instructions[at][0].name
    inputs = [len(p.parameters) for p in (pair.new, pair.old)]
    if inputs[0] != inputs[1]:
        text = f"{inputs[0]} inputs instead of {inputs[1]}: {name} {_of(new)} instead of {_of(old)}"
        return Change(INPUT, text, place)
    if new != old:
        return Change(LOOP, f"{name} {_of(new)} instead of {_of(old)}", place)
    return Change(BRANCH, f"the same operations in another order from {name}", place)


def _of(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def _of_outputs(pair: _Pair) -> Change:
    """Which operand differs, or which result is live, in one of two programs alike in all else."""
    lines = zip(pair.new.instructions, pair.old.instructions, strict=True)
    for i, (new, old) in enumerate(lines):
        if new[1] != old[1]:
            return Change(OPERANDS, f"{new[0].name} of other operands", _place(pair.new, i))
    for one, other, verb in ((pair.new, pair.old, "is live"), (pair.old, pair.new, "is dead")):
        for i in sorted(set(one.outputs) - set(other.outputs)):
            text = f"the result of {one.instructions[i][0].name} {verb} now"
            return Change(LIVE, text, _place(one, i))
    if pair.new.outputs != pair.old.outputs:
        return Change(LIVE, "the same results are live in another order")
    return Change(DONATION, "the same program, compiled for other donations")


def _first_not_in(program: Program, indices: range, other: Program) -> int | None:
    """The first of the instructions whose op and line the other program has not."""
    known = _times(other)
    for i in indices:
        if program.instructions[i][0] not in INPUTS and _key(program, i) not in known:
            return i
    return None


def _times(program: Program) -> Counter[tuple[Any, ...]]:
    return Counter(_key(program, i) for i in range(len(program.instructions)))


def _key(program: Program, index: int) -> tuple[Any, ...]:
    """Op and line of an instruction."""
    op = program.instructions[index][0]
    return (op,) if op in INPUTS else (op, _place(program, index))


def _place(program: Program, index: int) -> Place | None:
    return program.places[index] if program.places else None


def _user(program: Program, index: int) -> int:
    """The first instruction that an input is an operand of."""
    users = (i for i, line in enumerate(program.instructions) if index in line[1])
    return next(users, index)


def _name(program: Program, index: int) -> str:
    return program.instructions[index][0].name


def _count(indices: range, program: Program) -> str:
    lines: Sequence[Instruction] = program.instructions
    n = sum(lines[i][0] not in INPUTS for i in indices)
    return f"{n} operation{'s' * (n != 1)}"
