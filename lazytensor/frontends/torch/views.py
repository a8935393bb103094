"""Views: each row gives the view steps that do what an aten op does to a tensor's type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from lazytensor.core import ops
from lazytensor.core.cell import Cell, Step, view_step
from lazytensor.core.node import Node
from lazytensor.core.ops import (
    diagonal_step,
    reshape_step,
    slice_step,
    transpose_step,
)
from lazytensor.core.types import Shape, TensorType
from lazytensor.frontends.torch import strides
from lazytensor.frontends.torch.kernels import prepare_thread, register, rows
from lazytensor.frontends.torch.promotion import cast_to
from lazytensor.frontends.torch.strides import Steps, axis_of
from lazytensor.frontends.torch.tensor import node, ref, view


def axes_of(dims: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `dims` names; all of them for None or nothing. Raises: as torch."""
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        return tuple(range(ndim))
    if isinstance(dims, int):
        dims = [dims]
    found = [axis_of(dim, ndim) for dim in dims]
    for axis in found:
        if found.count(axis) > 1:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    return tuple(axis for axis in found if axis < ndim)


def reshape_to(type: TensorType, size: Sequence[int]) -> Shape:
    """`size` with its -1 worked out. Raises: RuntimeError, torch's."""
    shape = tuple(size)
    if -1 in shape:
        known = prod([n for n in shape if n != -1])
        if shape.count(-1) == 1 and known and type.size % known == 0:
            shape = tuple(type.size // known if n == -1 else n for n in shape)
    if min(shape, default=0) < 0 or prod(shape) != type.size:
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {type.size}")
    return shape


def _view(type: TensorType, size: Sequence[int]) -> Steps:
    shape = reshape_to(type, size)
    return () if shape == type.shape else (reshape_step(shape),)


def _permute(type: TensorType, dims: Sequence[int]) -> Steps:
    if len(dims) != type.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {type.ndim} is not "
            f"equal to len(dims) = {len(dims)}"
        )
    return (transpose_step(axes_of(dims, type.ndim)),) if dims else ()


def _transpose(type: TensorType, dim0: int, dim1: int) -> Steps:
    first, second = axis_of(dim0, type.ndim), axis_of(dim1, type.ndim)
    axes = list(range(type.ndim))
    if first == second:
        return ()
    axes[first], axes[second] = axes[second], axes[first]
    return (transpose_step(tuple(axes)),)


def _t(type: TensorType) -> Steps:
    if type.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {type.ndim}D")
    return _transpose(type, 0, 1) if type.ndim == 2 else ()


def _cut(type: TensorType, axis: int, begin: int, size: int, step: int = 1) -> Step:
    starts = tuple(begin if i == axis else 0 for i in range(type.ndim))
    sizes = tuple(size if i == axis else n for i, n in enumerate(type.shape))
    steps = tuple(step if i == axis else 1 for i in range(type.ndim))
    return slice_step(starts, sizes, steps)


def _select(type: TensorType, dim: int, index: int) -> Steps:
    if not type.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, type.ndim)
    n = type.shape[axis]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(type.shape)} "
            f"at dimension {axis}"
        )
    rest = (*type.shape[:axis], *type.shape[axis + 1 :])
    return _cut(type, axis, index % n, 1), reshape_step(rest)


def _slice(
    type: TensorType, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Steps:
    if not type.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    axis = axis_of(dim, type.ndim)
    n = type.shape[axis]
    places = range(n)[start:end:step]
    if len(places) == n:
        return ()
    return (_cut(type, axis, places.start if places else 0, len(places), step),)


def _expand(type: TensorType, size: Sequence[int], implicit: bool = False) -> Steps:
    extra = len(size) - type.ndim
    if extra < 0:
        raise RuntimeError(
            f"expand(lazytensor, size={list(size)}): the number of sizes provided ({len(size)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({type.ndim})"
        )
    own = (*size[:extra], *type.shape)
    shape = tuple(m if n == -1 else n for n, m in zip(size, own, strict=True))
    for i, n in enumerate(type.shape):
        if n != 1 and shape[extra + i] != n:
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[extra + i]}) must match the existing "
                f"size ({n}) at non-singleton dimension {extra + i}.  Target sizes: "
                f"{list(size)}.  Tensor sizes: {list(type.shape)}"
            )
    return () if shape == type.shape else (view_step(ops.broadcast, None, (("shape", shape),)),)


def _squeeze(type: TensorType, dims: Any = None) -> Steps:
    axes = axes_of(dims, type.ndim) if dims != [] else ()
    gone = {axis for axis in axes if type.shape[axis] == 1}
    rest = tuple(n for axis, n in enumerate(type.shape) if axis not in gone)
    return (reshape_step(rest),) if gone else ()


def _unsqueeze(type: TensorType, dim: int) -> Steps:
    axis = axis_of(dim, type.ndim + 1)
    return (reshape_step((*type.shape[:axis], 1, *type.shape[axis:])),)


def _diagonal(type: TensorType, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Steps:
    axis1, axis2 = axis_of(dim1, type.ndim), axis_of(dim2, type.ndim)
    if axis1 == axis2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return (diagonal_step(offset, axis1, axis2),)


VIEWS: dict[str, Callable[..., Steps]] = {
    "alias": lambda type: (),
    "view": _view,
    "_unsafe_view": _view,
    "_reshape_alias": lambda type, size, stride: _view(type, size),
    "permute": _permute,
    "transpose.int": _transpose,
    "t": _t,
    "select.int": _select,
    "slice.Tensor": _slice,
    "expand": _expand,
    "squeeze": _squeeze,
    "squeeze.dim": _squeeze,
    "squeeze.dims": _squeeze,
    "unsqueeze": _unsqueeze,
    "diagonal": _diagonal,
    "as_strided": strides.as_strided,
    "unfold": strides.unfold,
    "view.dtype": strides.dtype,
}


REBOUND = (
    "squeeze",
    "squeeze.dim",
    "squeeze.dims",
    "unsqueeze",
    "t",
    "transpose.int",
    "as_strided",
)
"""Views whose in-place variants change what a tensor shows: `x.squeeze_()`."""

SCATTERED = {
    "diagonal_scatter": "diagonal",
    "select_scatter": "select.int",
    "slice_scatter": "slice.Tensor",
    "as_strided_scatter": "as_strided",
}
"""What gives a tensor with what a view of it shows replaced."""


def _kernel(row: Callable[..., Steps]) -> Callable[..., Any]:
    def kernel(self: Any, *args: Any, **kwargs: Any) -> Any:
        prepare_thread()
        return view(self, *row(ref(self).type, *args, **kwargs))

    return kernel


def _rebound(row: Callable[..., Steps]) -> Callable[..., Any]:
    def kernel(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.data = view(self, *row(ref(self).type, *args, **kwargs))
        return self

    return kernel


def _scattered(row: Callable[..., Steps]) -> Callable[..., Node]:
    def scatter(self: Any, source: Any, *args: Any, **kwargs: Any) -> Node:
        cell, value = Cell(node(self)), node(source)
        shown = cell.view(*row(cell.type, *args, **kwargs))
        shown.write(cast_to(value, cell.type.dtype))
        return cell.node

    return scatter


def _pieces(self: Any, sizes: Sequence[int], dim: int) -> list[Any]:
    type = ref(self).type
    axis, start, found = axis_of(dim, type.ndim), 0, []
    for size in sizes:
        found.append(view(self, _cut(type, axis, start, size)))
        start += size
    return found


def _split(self: Any, split_size: int, dim: int = 0) -> list[Any]:
    n = ref(self).type.shape[axis_of(dim, ref(self).type.ndim)]
    if split_size <= 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got {n}")
    step = split_size or 1
    sizes = [min(step, n - start) for start in range(0, n, step)]
    return _pieces(self, sizes or [0], dim)


def _split_with_sizes(self: Any, split_sizes: Sequence[int], dim: int = 0) -> list[Any]:
    n = ref(self).type.shape[axis_of(dim, ref(self).type.ndim)]
    if sum(split_sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return _pieces(self, split_sizes, dim)


def attach() -> None:
    """Register the views."""
    for name, row in VIEWS.items():
        register(name, _kernel(row))
    for name in REBOUND:
        base, _, overload = name.partition(".")
        register(f"{base}_.{overload}".removesuffix(".int").rstrip("."), _rebound(VIEWS[name]))
    rows({name: _scattered(VIEWS[base]) for name, base in SCATTERED.items()})
    register("split.Tensor", _split)
    register("split_with_sizes", _split_with_sizes)
