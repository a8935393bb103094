"""Gives results of operands that are not in rows the layout that NumPy gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.trace.layout_probe import orders, results
from lazytensor.frontends.numpy.arrays.array import Lazy, ndarray
from lazytensor.frontends.numpy.arrays.layout import along
from lazytensor.frontends.numpy.arrays.shadow import Turned, shadow
from lazytensor.frontends.numpy.host.small import are_plain


def laid(made: Any, real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`made`, the lazy results of NumPy's function `real`, with new arrays laid out as NumPy's."""
    if not any(map(_is_turned, (*args, *kwargs.values()))) or kwargs.get("out") is not None:
        return made
    given = (*args, *kwargs.values())
    found = [x if _is_new(x, given) else None for x in results(made)]
    known = orders(real, args, kwargs, _lying) if any(x is not None for x in found) else []
    if len(known) == len(found):
        for x, order in zip(found, known, strict=True):
            if x is not None and order is not None and len(order) == x.ndim:
                in_rows = order == tuple(range(x.ndim))
                x._shadow = None if in_rows else along(x.ref.type, order)
    return made


def _is_turned(x: Any) -> bool:
    if type(x) is ndarray:
        return type(x._shadow) is Turned and x.ndim > 1
    return type(x) in _OTHERS and _is_or_has_turned(x)


_OTHERS: Final = frozenset([list, tuple, np.ndarray])


def _is_or_has_turned(x: Any) -> bool:
    if type(x) is np.ndarray:
        return x.ndim > 1 and not x.flags.c_contiguous
    return not are_plain(x) and any(map(_is_turned, x))


def _is_new(x: Any, given: Iterable[Any]) -> bool:
    """Whether `x` is a lazy array of several axes that has memory of its own."""
    if type(x) is not ndarray or x.ndim < 2 or not x.size:
        return False
    if type(x.ref) is not Cell or x._base is not None or any(x is y for y in given):
        return False
    return x._shadow is None or (type(x._shadow) is Turned and x._shadow.flags.writeable)


def _lying(x: Any) -> np.ndarray | None:
    if isinstance(x, Lazy):
        return shadow(x)
    return x if isinstance(x, np.ndarray) else None
