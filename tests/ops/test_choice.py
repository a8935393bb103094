"""The choice by a mask, as bits: what `numpy.where` gives, to the last bit."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.interpreter.kernels import IN_PLACE, REFERENCES
from lazytensor.core.interpreter.kernels.choice import LEAST_ELEMENTS

ROWS = LEAST_ELEMENTS // 4
DTYPES = ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16]
SHAPES = {
    "alike": ((ROWS, 8),) * 3,
    "a row": ((ROWS, 8), (8,), (ROWS, 8)),
    "a number first": ((ROWS, 8), (), (ROWS, 8)),
    "a number last": ((ROWS, 8), (ROWS, 8), ()),
    "two numbers": ((ROWS, 8), (), ()),
    "a mask of rows": ((4 * ROWS, 1), (4 * ROWS, 2), (1, 2)),
    "few": ((3, 2), (3, 2), (2,)),
}
OPERANDS = [
    (dtype, shapes, zero)
    for dtype, shapes, zero in product(DTYPES, SHAPES, (None, 1, 2))
    if zero is None or SHAPES[shapes][zero] == ()
]
WRITTEN = [
    (dtype, shapes, zero, into)
    for dtype, shapes, zero in OPERANDS
    for into in (1, 2)
    if into != zero and SHAPES[shapes][into] == np.broadcast_shapes(*SHAPES[shapes])
]


def drawn(shape: tuple[int, ...], dtype: Any, rng: Any) -> Any:
    """All bits at random: NaNs with payloads and negative zeros among them."""
    size = np.dtype(dtype).itemsize
    bits = rng.integers(0, 2 if dtype == "?" else 256, (*shape, size), np.uint8)
    return bits.view(dtype).reshape(shape)


def operands(dtype: Any, shapes: str, zero: int | None) -> list[Any]:
    rng = np.random.default_rng(0)
    mask, *data = SHAPES[shapes]
    found = [rng.random(mask) < 0.5, *(drawn(shape, dtype, rng) for shape in data)]
    if zero is not None:
        shape = found[zero].shape
        found[zero] = np.broadcast_to(np.zeros((), dtype), shape)
    return found


@pytest.mark.parametrize(("dtype", "shapes", "zero"), OPERANDS)
def test_a_choice_is_numpys(dtype: Any, shapes: str, zero: int | None) -> None:
    given = operands(dtype, shapes, zero)
    wanted = np.where(*given)
    found = REFERENCES[ops.select](*given)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("dtype", "shapes", "zero", "into"), WRITTEN)
def test_a_choice_in_place_is_the_same_twice(
    dtype: Any, shapes: str, zero: int | None, into: int
) -> None:
    given = operands(dtype, shapes, zero)
    wanted = np.where(*given)
    write = IN_PLACE[ops.select]()[into]
    for _ in range(2):
        found = write(*given)
        assert found is given[into]
        assert found.tobytes() == wanted.tobytes()
