"""Slot values: packing them, and knowing what may be taken for granted of them.

A slot that has had one value since the program was first seen may be baked into its executable as
a constant: static slice starts let stencils fuse, and XLA:CPU vectorises a stencil with a constant
factor three times better than one with a factor in memory. (The backend sees to it that a baked
float gives the results that it would as data.) Floats that vary, but have always been equal, are
one operand: in an unrolled loop they are the same variable, and XLA:CPU's compile time explodes
with hundreds of distinct scalars in a loop. Bits are compared, so `0.0`, `-0.0` and `nan` differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core.program import Program

Packed = dict[np.dtype, np.ndarray]


class Assumptions(NamedTuple):
    """What an executable relies on, by slot instruction.

    `baked`: the values of those that are constants. `leaders`: for each that always equals an
    earlier one, that one.
    """

    baked: Mapping[int, np.ndarray]
    leaders: Mapping[int, int]

    def text(self) -> str:
        """All of it, exactly."""
        constants = ";".join(f"{i}={value.tobytes().hex()}" for i, value in self.baked.items())
        return f"{constants}\n{sorted(self.leaders.items())}"


NOTHING = Assumptions({}, {})


def pack(program: Program, values: list[Any]) -> Packed:
    """The slots' values, one array per dtype, in the program's order."""
    lists: dict[np.dtype, list[Any]] = {}
    for (dtype, _), value in zip(program.slot_places.values(), values, strict=True):
        into = lists.setdefault(dtype, [])
        if value.__class__ is tuple:
            into.extend(value)
        else:
            into.append(value)
    return {dtype: np.array(numbers, dtype) for dtype, numbers in lists.items()}


class SlotHistory:
    """What the slots of one program have been.

    Per dtype: the `first` values as bits, a row each; `varying` marks the positions that have
    changed; `leader` is the first position that has always had the same bits.
    """

    def __init__(self, packed: Packed) -> None:
        self.first = packed
        self.bits = {dtype: array.tobytes() for dtype, array in packed.items()}
        self.rows = {dtype: _rows(array) for dtype, array in packed.items()}
        self.varying = {dtype: np.zeros(array.size, bool) for dtype, array in packed.items()}
        self.leader = {dtype: _leaders(array) for dtype, array in packed.items()}
        self.changes = 0

    def observe(self, packed: Packed) -> bool:
        """Take note of one more run's values; say whether something new varies.

        The second time that happens, every slot of the dtype in question becomes data of its own:
        two recompiles for scalars are the most that a program ever costs.
        """
        news = False
        for dtype, array in packed.items():
            if array.tobytes() != self.bits[dtype]:
                news |= self._changed(dtype, _rows(array))
        self.changes += news
        return news

    def _changed(self, dtype: np.dtype, rows: np.ndarray) -> bool:
        varying, leader = self.varying[dtype], self.leader[dtype]
        fresh = (self.rows[dtype] != rows).any(axis=1) & ~varying
        parted = (rows != rows[leader]).any(axis=1) & varying
        if not fresh.any() and not parted.any():
            return False
        if self.changes:
            varying[:] = True
            leader[:] = np.arange(leader.size)
        else:
            varying |= fresh
            _part(leader, rows)
        return True

    def assumptions(self, program: Program) -> Assumptions:
        """What an executable compiled now may rely on."""
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


def _rows(array: np.ndarray) -> np.ndarray:
    """The bytes of each element."""
    return array.view(np.uint8).reshape(array.size, array.dtype.itemsize)


def _leaders(array: np.ndarray) -> np.ndarray:
    """Per element the first position with the same bits."""
    width = array.dtype.itemsize
    bits = array.tobytes()
    first: dict[bytes, int] = {}
    places = range(0, len(bits), width)
    return np.array([first.setdefault(bits[i : i + width], i // width) for i in places], np.intp)


def _part(leader: np.ndarray, rows: np.ndarray) -> None:
    """Keep together only what has the same bits in `rows` too."""
    first: dict[tuple[int, bytes], int] = {}
    for i, row in enumerate(rows):
        leader[i] = first.setdefault((int(leader[i]), row.tobytes()), i)
