"""How a function's results lie: NumPy is asked, with small arrays that lie as the operands do.

In which order of axes NumPy leaves a result is a matter of each function's own: products and
reductions keep the operands', `stack` puts a new axis among them, `fft` what it transforms. So
NumPy's function is called with arrays of five elements an axis. Only results of operands that do
not lie in rows are asked about, and what is learnt is remembered.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lazytensor.core.calls import keep, memory, remembered
from lazytensor.core.cell import Cell
from lazytensor.core.types import Shape
from lazytensor.frontends.numpy.array import Lazy, ndarray
from lazytensor.frontends.numpy.layout import along
from lazytensor.frontends.numpy.shadow import Turned, shadow

Answer = list[tuple[int, ...] | None]
"""Per result: the order of its axes, the outermost first; None for what is no array."""

_LENGTH: Final = 5
_LARGE: Final = 64
"""Numbers beyond are counts of elements, or values, that a small array has not."""
_BOUND: Final = 4096
_known: Final = memory()


def laid(made: Any, real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `real` was computed as, lazily, with its new arrays laid out as NumPy lays them out."""
    if kwargs:
        given = (*args, *kwargs.values())
        if kwargs.get("out") is not None:
            return made
    else:
        given = args
    if not any(map(_is_turned, given)):
        return made
    results = [x if _is_new(x, given) else None for x in _results(made)]
    if any(x is not None for x in results):
        orders = _asked(real, args, kwargs)
        if len(orders) == len(results):
            for x, order in zip(results, orders, strict=True):
                if x is not None and order is not None and len(order) == x.ndim:
                    in_rows = order == tuple(range(x.ndim))
                    x._shadow = None if in_rows else along(x.ref.type, order)
    return made


def _is_turned(x: Any) -> bool:
    kind = type(x)
    if kind is ndarray:
        return type(x._shadow) is Turned and x.ndim > 1
    if kind is np.ndarray:
        return x.ndim > 1 and not x.flags.c_contiguous
    return (kind is list or kind is tuple) and any(map(_is_turned, x))


def _results(made: Any) -> Iterator[Any]:
    if isinstance(made, tuple | list):
        for x in made:
            yield from _results(x)
    else:
        yield made


def _is_new(x: Any, given: Iterable[Any]) -> bool:
    """Whether `x` is a lazy array of several axes that has memory of its own."""
    if type(x) is not ndarray or x.ndim < 2 or not x.size:
        return False
    if type(x.ref) is not Cell or x._base is not None or any(x is y for y in given):
        return False
    return x._shadow is None or (type(x._shadow) is Turned and x._shadow.flags.writeable)


def _asked(real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    """The orders of NumPy's results, none where small arrays are not what it takes."""
    try:
        key = real, _key(args), _key(tuple(kwargs.items()))
        found: Answer | None = _known.get(key)
    except TypeError:  # something that has no hash
        return []
    if found is None:
        found = _answer(real, args, kwargs)
        keep(_known, key, found, _BOUND)
    return found


def _answer(real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = {name: _standing_for(x) for name, x in kwargs.items()}
            made = real(*map(_standing_for, args), **given)
    except Exception:  # noqa: BLE001 (indices of what is larger, and the like)
        return []
    return [_order(x) if isinstance(x, np.ndarray) else None for x in _results(made)]


def _order(x: np.ndarray) -> tuple[int, ...]:
    return tuple(sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis])))


def _key(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x), tuple(map(_key, x))
    if isinstance(x, Lazy | np.ndarray):
        return _layout(x)
    if type(x) is slice:
        return slice, x.start, x.stop, x.step
    if callable(x) and not isinstance(x, type):
        raise TypeError("what users give to be called is not called twice")
    return (type(x), _small(x)) if type(x) is int else (type(x), x)


def _small(n: int) -> int:
    return n if -_LARGE < n < _LARGE else _LENGTH


def _layout(x: Any) -> tuple[Any, ...]:
    lies = shadow(x) if isinstance(x, Lazy) else x
    return _scaled(lies.dtype, lies.shape, lies.strides)


@remembered(_BOUND)
def _scaled(dtype: np.dtype, shape: Shape, strides: Shape) -> tuple[np.dtype, Shape, Shape]:
    """The dtype of an array, and lengths and strides of a small one that lies as it does.

    Axes one within another without a gap are so in the small array, too.
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


def _standing_for(x: Any) -> Any:
    if isinstance(x, Lazy | np.ndarray):
        dtype, lengths, steps = _layout(x)
        before = sum((n - 1) * -step for n, step in zip(lengths, steps, strict=True) if step < 0)
        memory = np.ones(1 + _LENGTH * sum(map(abs, steps)), dtype)[before:]
        made = as_strided(memory, lengths, [step * dtype.itemsize for step in steps])
        return made if isinstance(x, ndarray) else made[()]
    if isinstance(x, tuple | list):
        return type(x)(map(_standing_for, x))
    return _small(x) if type(x) is int else x
