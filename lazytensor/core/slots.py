"""Slot values: packing them, and knowing which have ever changed.

A slot that has had one bit pattern since the program was first seen may be baked into its
executable as a constant. Bits are compared, so `0.0`, `-0.0`, `nan`, `1` and `True` differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.program import Program

Packed = dict[np.dtype, np.ndarray]


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
    """What the slots of one program have been. `varying` marks those that have changed."""

    def __init__(self, packed: Packed) -> None:
        self.last = packed
        self.bits = {dtype: array.tobytes() for dtype, array in packed.items()}
        self.varying = {dtype: np.zeros(array.size, bool) for dtype, array in packed.items()}
        self.changes = 0

    def observe(self, packed: Packed) -> bool:
        """Take note of one more run's values; say whether a slot varies that did not before.

        The second time that happens every slot of the dtypes in question becomes data: two
        recompiles for scalars are the most that a program ever costs.
        """
        news = False
        for dtype, array in packed.items():
            bits = array.tobytes()
            if bits == self.bits[dtype]:
                continue
            width = dtype.itemsize
            before = np.frombuffer(self.bits[dtype], np.uint8).reshape(-1, width)
            now = np.frombuffer(bits, np.uint8).reshape(-1, width)
            fresh = (before != now).any(axis=1) & ~self.varying[dtype]
            if not fresh.any():
                continue
            self.varying[dtype] |= fresh if self.changes == 0 else True
            news = True
        self.changes += news
        return news

    def baked(self, program: Program) -> dict[int, Any]:
        """Values of the slot instructions that never changed: a number, or a tuple of them."""
        values: dict[int, Any] = {}
        for index, (dtype, at) in program.slot_places.items():
            size = program.instructions[index][3].size
            if not self.varying[dtype][at : at + size].any():
                values[index] = self.last[dtype][at : at + size]
        return values

    def data(self, packed: Packed) -> list[np.ndarray]:
        """The packed arrays that an executable takes: those of dtypes with a varying slot."""
        return [array for dtype, array in packed.items() if self.varying[dtype].any()]
