"""The order of a result's axes in memory: NumPy's "K" order, that of the operands.

Views, `reshape` and flags of a result depend on it. Its values do not, so only its shadow changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.frontends.numpy.arrays.array import Lazy, ndarray
from lazytensor.frontends.numpy.arrays.shadow import (
    Turned,
    c_strides,
    shadow,
    shadow_of_type,
    turned,
)

Layout = tuple[Shape, Shape]
"""Shape and strides of an operand."""
Lay = Callable[..., None]
"""Lays out a new array. Called with the array and its operands."""


def lay_out(result: Any, *operands: Any) -> None:
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
        order = "F" if x.flags.fnc else "C"
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


def lay_out_as(result: Lazy, order: Any, *operands: Any, lay: Lay = lay_out) -> None:
    """Give a new array the layout that `order` says. Raises: ValueError, TypeError."""
    if order in ("K", "k", None):
        lay(result, *operands)
    elif order in ("F", "f") or (order in ("A", "a") and _fortran(operands)):
        kind = result.ref.type
        if kind.size:
            result._shadow = along(kind, tuple(range(kind.ndim)[::-1]))
    elif order not in ("A", "a", "C", "c"):
        np.add([1], [1], order=order)  # raises


def of_stacks(signature: str) -> Lay:
    """`lay_out` for a function of stacks of vectors and matrices with a ufunc's signature.

    Only the stacked axes are laid out as the operands' are.
    """
    cores = [
        core.split(",") if core else [] for core in signature[1:-1].replace("->", ",").split("),(")
    ]

    def lay(result: Lazy, *operands: Any) -> None:
        if result.ndim > len(cores[-1]) and result.ref.type.size and any(map(_turned, operands)):
            arrays = (x if isinstance(x, Lazy) else np.asarray(x) for x in operands)
            layouts = tuple(found for x in arrays for found in _layout(x))
            gone = {
                name
                for (shape, _), core in zip(layouts, cores, strict=False)
                for name in core
                if len(shape) < len(core) and name.endswith("?")
            }
            ranks = tuple(sum(name not in gone for name in core) for core in cores)
            axes = kept_in_stacks(result.ref.type.shape, layouts, ranks)
            if axes is not None:
                result._shadow = along(result.ref.type, axes)

    return lay


def _turned(x: Any) -> bool:
    if issubclass(type(x), Lazy):
        return type(x._shadow) is Turned
    return isinstance(x, np.ndarray) and not x.flags.c_contiguous


def _layout(x: Any) -> list[Layout]:
    """The layout of an operand, if it is an array; else none."""
    if isinstance(x, Lazy):
        layout = x._shadow
        return [(x.shape, layout.strides if layout is not None else c_strides(x.type))]
    return [(x.shape, x.strides)] if isinstance(x, np.ndarray) else []


def _fortran(operands: Iterable[Any]) -> bool:
    """Whether every array is in Fortran order."""
    found = [shadow(x) if isinstance(x, Lazy) else x for x in operands]
    return all(x.flags.f_contiguous for x in found if isinstance(x, np.ndarray))


@remembered(4096)
def along(type: TensorType, axes: tuple[int, ...]) -> np.ndarray:
    """The shadow of an array with its axes in this order in memory, the outermost first."""
    inverse = sorted(range(len(axes)), key=axes.__getitem__)
    shape = tuple(type.shape[axis] for axis in axes)
    return turned(shadow_of_type(type.with_shape(shape)).transpose(inverse))


def lay_out_reduced(result: Lazy, axes: tuple[int, ...], *operands: Any) -> None:
    """Give the result of a reduction over `axes` the operands' order of the remaining axes."""
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


@remembered(4096)
def kept(shape: Shape, layouts: tuple[Layout, ...]) -> tuple[int, ...] | None:
    """The result's order of axes, the outermost first, in NumPy's "K" order; None if it is C's.

    NumPy chooses it for arrays with the operands' strides and two elements along every longer axis.
    One byte of memory stands for them, as it is never read.
    """
    return _order(np.nditer([*map(_standing_for, layouts), None]).operands[-1])


@remembered(4096)
def kept_in_stacks(
    shape: Shape, layouts: tuple[Layout, ...], ranks: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The same for stacks of items with these ranks: the operands' first, then the result's."""
    *given, own = ranks
    over = len(shape) - own
    axes: list[list[int]] = []
    for (mine, _), rank in zip(layouts, given, strict=True):
        stacked = len(mine) - rank
        axes.append([*[-1] * (over - stacked), *range(stacked), *[-1] * own])
    made = np.nditer(
        [*map(_standing_for, layouts), None],
        op_axes=[*axes, [*range(len(shape))]],
        itershape=_short(shape),
    )
    return _order(made.operands[-1])


def _short(shape: Shape) -> Shape:
    return tuple(1 if n == 1 else 2 for n in shape)


def _standing_for(layout: Layout) -> np.ndarray:
    shape, strides = layout
    return as_strided(_BYTE, _short(shape), strides)


def _order(made: np.ndarray) -> tuple[int, ...] | None:
    axes = sorted(range(made.ndim), key=lambda axis: -made.strides[axis])
    return None if axes == sorted(axes) else tuple(axes)


_BYTE: Final = np.zeros(1, np.int8)
