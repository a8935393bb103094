"""The layout of a function's results, found by a call of the host's with small arrays.

The order of a result's axes depends on the function: products and reductions keep the operands',
stacking inserts a new axis, a transform moves its own. So the host's function is called with arrays
that have the operands' layout and at most five elements an axis. The answer is remembered.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lazytensor.core.ir.memo import keep, memory, remembered
from lazytensor.core.ir.types import Shape

Function = Callable[..., Any]
Lying = Callable[[Any], np.ndarray | None]
"""An array with an operand's layout and any elements; None for an operand that is no array."""
Answer = list[tuple[int, ...] | None]
"""For each result: the order of its axes, the outermost first; None if it is no array."""

_LENGTH: Final = 5
_LARGE: Final = 64
"""Larger integers are counts of elements, or values, which a small array does not have."""
_PROBES_BOUND: Final = 4096
_known: Final = memory()


def orders(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], lie: Lying) -> Answer:
    """The orders of the host's results; none if its function refuses small arrays."""
    try:
        key = function, _key(args, lie), _key(tuple(kwargs.items()), lie)
        found: Answer | None = _known.get(key)
    except TypeError:  # something that has no hash
        return []
    if found is None:
        found = _answer(function, args, kwargs, lie)
        keep(_known, key, found, _PROBES_BOUND)
    return found


def results(made: Any) -> Iterator[Any]:
    """A function's results one by one, out of lists and tuples."""
    if isinstance(made, tuple | list):
        for x in made:
            yield from results(x)
    else:
        yield made


def _answer(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], lie: Lying
) -> Answer:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = {name: _standing_for(x, lie) for name, x in kwargs.items()}
            made = function(*(_standing_for(x, lie) for x in args), **given)
    except Exception:  # noqa: BLE001 (indices beyond a small array, and the like)
        return []
    return [_order(x) if isinstance(x, np.ndarray) else None for x in results(made)]


def _order(x: np.ndarray) -> tuple[int, ...]:
    return tuple(sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis])))


def _key(x: Any, lie: Lying) -> Any:
    if isinstance(x, tuple | list):
        return type(x), tuple(_key(item, lie) for item in x)
    array = lie(x)
    if array is not None:
        return _scaled(array.dtype, array.shape, array.strides)
    if type(x) is slice:
        return slice, x.start, x.stop, x.step
    if callable(x) and not isinstance(x, type):
        raise TypeError("a user's function is not called twice")
    return (type(x), _small(x)) if type(x) is int else (type(x), x)


def _small(n: int) -> int:
    return n if -_LARGE < n < _LARGE else _LENGTH


@remembered(_PROBES_BOUND)
def _scaled(dtype: np.dtype, shape: Shape, strides: Shape) -> tuple[np.dtype, Shape, Shape]:
    """The dtype of an array, and lengths and strides of a small one with the same layout.

    Axes nested without a gap are nested without a gap in the small array, too.
    """
    lengths = tuple(min(n, _LENGTH) for n in shape)
    steps = [0] * len(shape)
    inner, step, length, end = dtype.itemsize, 1, 1, 1
    for axis in sorted(range(len(shape)), key=lambda axis: abs(strides[axis])):
        stride, n = abs(strides[axis]), shape[axis]
        if n > 1 and stride:
            if stride != inner:
                step = step * length + (stride != inner * end)
            steps[axis] = step if strides[axis] > 0 else -step
            inner, length, end = stride, lengths[axis], n
    return dtype, lengths, tuple(steps)


def _standing_for(x: Any, lie: Lying) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(_standing_for(item, lie) for item in x)
    array = lie(x)
    if array is None:
        return _small(x) if type(x) is int else x
    dtype, lengths, steps = _scaled(array.dtype, array.shape, array.strides)
    before = sum((n - 1) * -step for n, step in zip(lengths, steps, strict=True) if step < 0)
    memory = np.ones(1 + _LENGTH * sum(map(abs, steps)), dtype)[before:]
    return as_strided(memory, lengths, [step * dtype.itemsize for step in steps])
