"""Slot values: packing them, and knowing what may be taken for granted of them.

A slot that has had one value since the program was first seen may be baked into its executable as
a constant: static slice starts let stencils fuse, and XLA:CPU vectorises a stencil with a constant
factor three times better than one with a factor in memory. (The backend sees to it that a baked
float gives the results that it would as data.) Floats that vary, but have always been equal, are
one operand: in an unrolled loop they are the same variable, and XLA:CPU's compile time explodes
with hundreds of distinct scalars in a loop. Bits are compared, so `0.0`, `-0.0` and `nan` differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_
from typing import Any

import numpy as np

from lazytensor.core.ir.assumptions import Assumptions
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.program import Program

Packed = dict[np.dtype, np.ndarray]


def pack(program: Program, values: list[Any]) -> Packed:
    """The slots' values, one array per dtype, in the program's order."""
    with np.errstate(over="ignore"):  # a number that a dtype cannot hold is infinite in it
        return {
            dtype: np.array(_numbers(select(values), vectors), dtype)
            for dtype, select, vectors in program.packing
        }


def _numbers(values: Sequence[Any], vectors: bool) -> Sequence[Any]:
    """The numbers of values of which some may be tuples: starts of slices."""
    if not vectors:
        return values
    return [n for value in values for n in (value if value.__class__ is tuple else (value,))]


class SlotHistory:
    """What the slots of one program have been.

    Per dtype: the `first` values and their `bits`; `varying` marks the positions that have
    changed or are `data_from_the_start`; `leader` is the first position that has always had the
    same bits. `last`: the values of the last run of an executable, and the data that it took.
    """

    def __init__(self, data: Packed | None = None) -> None:
        self.data_from_the_start = data or {}
        self.first: Packed | None = None
        self.bits: Packed = {}
        self.varying: Packed = {}
        self.leader: Packed = {}
        self.changes = 0
        self.last: tuple[list[Any], list[np.ndarray]] = ([], [])

    def operands(self, program: Program, values: list[Any]) -> list[np.ndarray] | None:
        """The packed arrays that an executable takes; None if it was made for other values.

        A loop has the same objects as values every time, and packing takes as long as all else of
        a cut.
        """
        last, data = self.last
        if len(last) == len(values) and all(map(is_, values, last)):
            return data
        packed = pack(program, values)
        if not self.allows(packed):
            return None
        data = self.data(packed)
        self.last = values, data
        return data

    def allows(self, packed: Packed) -> bool:
        """Whether what has been assumed so far is true of these values."""
        return self.first is not None and not any(self._surprises(packed))

    def observe(self, packed: Packed) -> None:
        """Take note of one more run's values.

        The second time that they are not what was assumed, every slot of the dtype in question
        becomes data of its own: recompiles for scalars are at most one more than there are dtypes.
        """
        self.last = [], []
        if self.first is None:
            self._begin(packed)
            return
        surprises = list(self._surprises(packed))
        for dtype in surprises:
            self._take_in(dtype, _bits(packed[dtype]))
        self.changes += bool(surprises)

    def _surprises(self, packed: Packed) -> Iterator[np.dtype]:
        """The dtypes of which a slot that was constant varies, or two that were equal part."""
        for dtype, array in packed.items():
            if array.tobytes() == self.bits[dtype].tobytes():
                continue
            bits, varying = _bits(array), self.varying[dtype]
            changed = bits != self.bits[dtype]
            parted = bits != bits[self.leader[dtype]]
            if (changed & ~varying).any() or (parted & varying).any():
                yield dtype

    def _begin(self, packed: Packed) -> None:
        for dtype, array in packed.items():
            self.bits[dtype] = _bits(array)
            known = self.data_from_the_start.get(dtype)
            self.varying[dtype] = np.zeros(array.size, bool) if known is None else known.copy()
            self.leader[dtype] = _leaders(array)
        self.first = packed  # last: a Ctrl-C may come in between

    def _take_in(self, dtype: np.dtype, bits: np.ndarray) -> None:
        varying, leader = self.varying[dtype], self.leader[dtype]
        if self.changes:
            varying[:] = True
            leader[:] = np.arange(leader.size)
        else:
            varying |= bits != self.bits[dtype]
            _part(leader, bits)

    def known(self) -> bytes:
        """What has been learned, for another process."""
        import json

        learned = {
            dtype.str: [varying.tolist(), self.leader[dtype].tolist()]
            for dtype, varying in self.varying.items()
        }
        return json.dumps({"changes": self.changes, "slots": learned}).encode()

    def informed(self, known: bytes) -> SlotHistory:
        """This history, had it begun with what another process has learned of the program."""
        import json

        said = json.loads(known)
        made = SlotHistory()
        made.first, made.bits, made.changes = self.first, self.bits, said["changes"]
        for dtype, bits in self.bits.items():
            varying, leader = said["slots"][dtype.str]
            made.varying[dtype] = self.varying[dtype] | np.array(varying, bool)
            made.leader[dtype] = np.array(leader, np.intp)
            _part(made.leader[dtype], bits)
        return made

    def assumptions(self, program: Program) -> Assumptions:
        """What an executable compiled now may rely on."""
        assert self.first is not None
        baked: dict[int, np.ndarray] = {}
        leaders: dict[int, int] = {}
        at_position: dict[tuple[np.dtype, int], int] = {}
        for index, (dtype, at) in program.slot_places.items():
            size = program.instructions[index][3].size
            if not self.varying[dtype][at : at + size].any():
                baked[index] = self.first[dtype][at : at + size]
            elif size == 1:
                at_position[dtype, at] = index
                leader = at_position.get((dtype, int(self.leader[dtype][at])), index)
                if leader != index:
                    leaders[index] = leader
        return Assumptions(baked, leaders)

    def data(self, packed: Packed) -> list[np.ndarray]:
        """The packed arrays that an executable takes: those of dtypes with a varying slot."""
        return [array for dtype, array in packed.items() if self.varying[dtype].any()]


def _bits(array: np.ndarray) -> np.ndarray:
    """Something per element that is equal where, and only where, all bits are."""
    width = array.dtype.itemsize
    if width == 16:  # NumPy has no 128-bit integer; a void's bytes compare
        return array.view("V16")
    return array.view(f"u{width}")


def _leaders(array: np.ndarray) -> np.ndarray:
    """Per element the first position with the same bits; slice starts are never one operand."""
    if array.dtype == S64:
        return np.arange(array.size)
    first: dict[object, int] = {}
    bits = _bits(array).tolist()
    return np.array([first.setdefault(item, i) for i, item in enumerate(bits)], np.intp)


def _part(leader: np.ndarray, bits: np.ndarray) -> None:
    """Keep together only what has equal `bits` too."""
    first: dict[tuple[int, object], int] = {}
    for i, item in enumerate(zip(leader.tolist(), bits.tolist(), strict=True)):
        leader[i] = first.setdefault(item, i)
