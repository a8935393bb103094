"""Views with any strides: what they show, write and alias is what NumPy's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.array import Lazy
from tests.numpy.agreement import assert_agree

View = Callable[[Any, Any], Any]
VIEWS: dict[str, View] = {
    "rows": lambda t, x: t.as_strided(x, (3, 2), (48, 8)),
    "diagonal": lambda t, x: t.as_strided(x, (4,), (56,)),
    "backwards": lambda t, x: t.as_strided(x[-1, ::-1], (3, 2), (-48, -16)),
    "of a view": lambda t, x: t.as_strided(x[1:, ::2], (2, 3), (48, 16)),
    "of columns": lambda t, x: t.as_strided(x.T, (6, 2), (8, 96)),
    "of a copy in columns": lambda t, x: t.as_strided(x.copy(order="F"), (5,), (8,)),
    "of an axis moved": lambda t, x: t.as_strided(x.reshape(4, 3, 2).swapaxes(0, 1), (2, 2)),
    "repeated": lambda t, x: t.as_strided(x[0], (3, 6), (0, 8)),
    "windows by hand": lambda t, x: t.as_strided(x, (20, 5), (8, 8)),
    "as it is": lambda t, x: t.as_strided(x),
    "empty": lambda t, x: t.as_strided(x, (0, 3), (8, 8)),
    "no axes": lambda t, x: t.as_strided(x, (), ()),
    "read only": lambda t, x: t.as_strided(x, (3,), (8,), writeable=False),
    "windows": lambda t, x: t.sliding_window_view(x, (2, 3)),
    "windows on an axis": lambda t, x: t.sliding_window_view(x, 2, axis=0),
    "windows of a view": lambda t, x: t.sliding_window_view(x[::2, 1:], 2, axis=1),
    "windows twice": lambda t, x: t.sliding_window_view(x, (2, 2), axis=(1, 1)),
    "windows of a view of windows": lambda t, x: t.sliding_window_view(x[0], 3)[::2],
    "windows to write to": lambda t, x: t.sliding_window_view(x, 2, axis=0, writeable=True),
    "too wide": lambda t, x: t.sliding_window_view(x, 9, axis=0),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str) -> None:
    """Values, layout, and that both see what is written through the other."""

    def program(np: Any) -> Any:
        x = np.arange(24.0).reshape(4, 6)
        view = VIEWS[name](np.lib.stride_tricks, x)
        first = view * 1
        x *= 2
        seen = view + 0
        if view.flags.writeable and 0 not in view.strides:
            view[...] = -view  # of elements shown twice, one order of writing is as good as another
        return first, seen, abs(x), view.strides, view.shape, view.flags.writeable

    assert_agree(program)


def test_one_element_is_written() -> None:
    def program(np: Any) -> Any:
        x = np.zeros((3, 4))
        np.lib.stride_tricks.as_strided(x[1], (2, 2), (32, 8))[1, 1] = 7
        return x

    assert_agree(program)


@pytest.mark.parametrize("old", [1.0, numpy.nan])
def test_one_showing_of_several_is_written(old: float) -> None:
    def program(np: Any) -> Any:
        x = np.full(6, old)
        windows = np.lib.stride_tricks.as_strided(x, (4, 3), (8, 8))
        windows[0, 1] = 7
        windows[2] = [3, 4, 5]
        return x, windows + 0

    assert_agree(program)


def test_views_only_record() -> None:
    x = lnp.arange(6.0) + 1
    before = lazytensor.metrics.snapshot()
    made = [
        lnp.lib.stride_tricks.as_strided(x, (2, 3), (24, 8)),
        lnp.lib.stride_tricks.sliding_window_view(x, 2),
        numpy.lib.stride_tricks.sliding_window_view(x, 2),
    ]
    after = lazytensor.metrics.snapshot()
    assert all(isinstance(y, Lazy) and numpy.shares_memory(x, y) for y in made)
    assert (after["cuts"], after["fallbacks"]) == (before["cuts"], before["fallbacks"])


def test_a_view_that_moves_is_one_program() -> None:
    x = lnp.arange(4000.0)
    total, before = 0.0, lazytensor.metrics.snapshot()["compiles"]
    for i in range(20):
        total += float(lnp.lib.stride_tricks.as_strided(x[i:], (50, 50), (80, 8)).sum())
    assert lazytensor.metrics.snapshot()["compiles"] <= before + 2
    assert total == sum(10 * 50 * 49 / 2 * 50 + 50 * 50 * 49 / 2 + 2500 * i for i in range(20))


def test_no_memory_outside_is_shown() -> None:
    x = lnp.arange(6.0)
    for shape, strides in [((7,), (8,)), ((2,), (-8,)), ((3, 3), (16, 8))]:
        with pytest.raises(ValueError, match="memory of 6"):
            lnp.lib.stride_tricks.as_strided(x, shape, strides)
