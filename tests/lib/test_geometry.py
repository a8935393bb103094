"""The view steps for strides show what NumPy shows at these strides."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.geometry import in_order, kept_strides, order_of, steps_of
from lazytensor.core.settings import settings
from tests.lib.compute import call

F64 = np.dtype(np.float64)


@st.composite
def geometries(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]:
    """A base in rows; sizes, strides and an offset that stay within it."""
    base = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    sizes = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    strides, room = [], prod(base) - 1
    for n in sizes:
        stride = draw(st.integers(0, room // (n - 1) if n > 1 else 3))
        strides.append(stride)
        room -= (n - 1) * stride
    return base, sizes, tuple(strides), draw(st.integers(0, room))


@given(geometries())
def test_steps_show_what_strides_do(
    geometry: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int],
) -> None:
    base, sizes, strides, offset = geometry
    settings.disk = False
    data = np.arange(float(prod(base))).reshape(base)
    rows = tuple(s // 8 for s in data.strides)

    def shown(x: Node) -> Node:
        for step in steps_of(base, rows, F64, sizes, strides, offset, F64):
            x = step.read(x)
        return x

    expected = as_strided(data.ravel()[offset:], sizes, [8 * s for s in strides])
    np.testing.assert_array_equal(call(shown, data)[0], expected)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_a_result_lies_as_its_operands_do(order: tuple[int, ...]) -> None:
    shape = (2, 3, 4)
    strides = in_order(shape, order)
    assert order_of(shape, strides) == order
    assert kept_strides(shape, ((shape, strides), (shape, strides))) == strides
    assert kept_strides(shape, ((shape, strides), ((4,), (1,)))) == strides
    gaps = tuple(2 * s for s in strides)
    assert order_of(shape, gaps) is None
    assert kept_strides(shape, ((shape, gaps),)) == strides
