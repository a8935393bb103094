"""In which order of axes a result lies in memory: NumPy's "K" order, that of the operands.

Views, `reshape` and flags of a result depend on it, its values do not: only its shadow changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from lazytensor.core.types import Shape, TensorType
from lazytensor.frontends.numpy.array import Lazy, ndarray
from lazytensor.frontends.numpy.shadow import Turned, c_strides, shadow, shadow_of_type, turned

Layout = tuple[Shape, Shape]
"""Shape and strides of an operand."""


def lay_out(result: Lazy, *operands: Any) -> None:
    """Give a new array the layout that an elementwise function of these operands gives it."""
    for x in operands:
        if type(x._shadow) is Turned if type(x) is ndarray else _turned(x):
            _keep(result, operands)
            return


def _keep(result: Lazy, operands: Iterable[Any]) -> None:
    kind = result.ref.type
    if not kind.size:
        return  # no element is at a distance from another
    axes = kept(kind.shape, tuple(found for x in operands for found in _layout(x)))
    if axes is not None:
        result._shadow = along(kind, axes)


def lay_out_like(result: Lazy, x: Any, order: Any = "K") -> None:
    """Give a copy of `x` the layout that `order` says. Raises: ValueError, TypeError."""
    if order in ("A", "a"):
        order = "F" if shadow(x).flags.fnc else "C"
    if order not in ("K", "k", None):
        lay_out_as(result, order)
        return
    layout = x._shadow if issubclass(type(x), Lazy) else x
    if not isinstance(layout, np.ndarray) or layout.ndim < 2 or layout.flags.c_contiguous:
        return
    steps = layout.strides
    axes = range(layout.ndim)
    order = axes[::-1] if layout.flags.fnc else sorted(axes, key=lambda axis: -abs(steps[axis]))
    if list(order) != list(axes):
        result._shadow = along(result.ref.type, tuple(order))


def lay_out_as(result: Lazy, order: Any, *operands: Any) -> None:
    """Give a new array the layout that `order` says. Raises: ValueError, TypeError."""
    if order in ("K", "k", None):
        lay_out(result, *operands)
    elif order in ("F", "f") or (order in ("A", "a") and _fortran(operands)):
        kind = result.ref.type
        if kind.size:
            result._shadow = along(kind, tuple(range(kind.ndim)[::-1]))
    elif order not in ("A", "a", "C", "c"):
        np.add([1], [1], order=order)  # raises


def _turned(x: Any) -> bool:
    if issubclass(type(x), Lazy):
        return type(x._shadow) is Turned
    return isinstance(x, np.ndarray) and not x.flags.c_contiguous


def _layout(x: Any) -> list[Layout]:
    """The layout of an operand that has one which may matter."""
    if isinstance(x, Lazy):
        layout = x._shadow
        return [(x.shape, layout.strides if layout is not None else c_strides(x.type))]
    return [(x.shape, x.strides)] if isinstance(x, np.ndarray) else []


def _fortran(operands: Iterable[Any]) -> bool:
    """Whether every array lies in columns."""
    found = [shadow(x) if isinstance(x, Lazy) else x for x in operands]
    return all(x.flags.f_contiguous for x in found if isinstance(x, np.ndarray))


@lru_cache(maxsize=4096)
def along(type: TensorType, axes: tuple[int, ...]) -> np.ndarray:
    """The shadow of an array whose axes lie in this order, the outermost first."""
    inverse = sorted(range(len(axes)), key=axes.__getitem__)
    shape = tuple(type.shape[axis] for axis in axes)
    return turned(shadow_of_type(type.with_shape(shape)).transpose(inverse))


def lay_out_reduced(result: Lazy, axes: tuple[int, ...], *operands: Any) -> None:
    """Give what a reduction of the operands over some axes leaves the order that is left."""
    if any(map(_turned, operands)):
        layouts = [found for x in operands for found in _layout(x)]
        shape = np.broadcast_shapes(*(shape for shape, _ in layouts))
        order = kept(shape, tuple(layouts)) or range(len(shape))
        rest = [axis for axis in order if axis not in axes]
        if result.ndim == len(shape):  # the axes are kept, as ones
            rest = [*axes, *rest]
        if rest != sorted(rest):
            names = sorted(rest)
            result._shadow = along(result.ref.type, tuple(names.index(axis) for axis in rest))


@lru_cache(maxsize=4096)
def kept(shape: Shape, layouts: tuple[Layout, ...]) -> tuple[int, ...] | None:
    """The order of axes, the outermost first, that keeps to the operands'; None if it is C's."""
    strides = [_broadcast(layout, len(shape)) for layout in layouts]
    axes: list[int] = []
    for axis in reversed(range(len(shape))):  # `axes` begins with the innermost here
        axes.insert(_place(axes, axis, strides), axis)
    found = tuple(reversed(axes))
    return None if found == tuple(range(len(shape))) else found


def _place(axes: list[int], axis: int, strides: Sequence[Sequence[int]]) -> int:
    """Where among the axes inside it an axis goes: past those with shorter steps."""
    place = len(axes)
    for i in reversed(range(len(axes))):
        verdict = _is_inside(axis, axes[i], strides)
        if verdict is False:
            break
        if verdict:
            place = i
    return place


def _is_inside(axis: int, other: int, strides: Sequence[Sequence[int]]) -> bool | None:
    """Whether `axis` has shorter steps than `other`: None if none says, no if one does."""
    verdict: bool | None = None
    for steps in strides:
        if steps[axis] and steps[other]:
            if abs(steps[other]) <= abs(steps[axis]):
                return False
            verdict = True
    return verdict


def _broadcast(layout: Layout, ndim: int) -> list[int]:
    """Strides of an operand in a result of `ndim` axes; none along axes of length 1."""
    shape, strides = layout
    steps = [0 if n == 1 else step for n, step in zip(shape, strides, strict=True)]
    return [0] * (ndim - len(shape)) + steps
