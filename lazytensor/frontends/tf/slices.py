"""Strided slices, their gradients, and assignments to them. Starts are slots: they may move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.node import Node
from lazytensor.core.op import starts
from lazytensor.core.types import Shape
from lazytensor.frontends.tf.elementwise import number
from lazytensor.frontends.tf.table import rows

Ints = tuple[int, ...]


class Window(NamedTuple):
    """A strided slice of every axis, and the shape it is given then."""

    begin: Ints
    sizes: Ints
    steps: Ints
    shape: Shape


def window(
    shape: Shape, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, masks: dict[str, Any]
) -> Window:
    """What TF's five masks, starts, ends and steps mean for a tensor of this shape."""
    items = _items(len(shape), begin, end, strides, masks)
    found: list[tuple[int, int, int]] = []
    result: list[int] = []
    axis = 0
    for kind, spec in items:
        if kind == "new":
            result.append(1)
            continue
        n = shape[axis]
        axis += 1
        if kind == "index":
            at = spec[0] + n if spec[0] < 0 else spec[0]
            if not 0 <= at < n:
                raise IndexError(f"index {spec[0]} of an axis of {n}")
            found.append((at, 1, 1))
            continue
        first, _, step = slice(*spec).indices(n)
        size = len(range(*slice(*spec).indices(n)))
        found.append((first if size else 0, size, step if size > 1 else 1))
        result.append(size)
    begins, sizes, steps = zip(*found, strict=True) if found else ((), (), ())
    return Window(begins, sizes, steps, tuple(result))


def _items(
    ndim: int, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, masks: dict[str, Any]
) -> list[tuple[str, Any]]:
    """Per entry: a new axis, an index, or a slice; an ellipsis written out."""
    bits = {
        name: int(masks.get(f"{name}_mask") or 0)
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    made: list[tuple[str, Any]] = []
    count = len(begin)
    new = sum(bits["new_axis"] >> i & 1 for i in range(count) if not bits["ellipsis"] >> i & 1)
    ellipsis = bits["ellipsis"] != 0
    whole = ("slice", (None, None, None))
    for i in range(count):
        if bits["ellipsis"] >> i & 1:
            made += [whole] * (ndim - (count - 1 - new))
        elif bits["new_axis"] >> i & 1:
            made.append(("new", None))
        elif bits["shrink_axis"] >> i & 1:
            made.append(("index", (int(begin[i]),)))
        else:
            first = None if bits["begin"] >> i & 1 else int(begin[i])
            last = None if bits["end"] >> i & 1 else int(end[i])
            made.append(("slice", (first, last, int(strides[i]))))
    if not ellipsis:
        made += [whole] * (ndim - sum(kind != "new" for kind, _ in made))
    return made


def _read(x: Node, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, **masks: Any) -> Node:
    found = window(x.type.shape, begin, end, strides, masks)
    made = x
    if found.sizes != x.type.shape or any(step != 1 for step in found.steps):
        made = ops.slice(x, starts(found.begin), sizes=found.sizes, strides=found.steps)
    if made.type.shape != found.shape:
        made = ops.reshape(made, shape=found.shape)
    return made


def _gradient(
    shape: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, grad: Node,
    **masks: Any,
) -> Node:  # fmt: skip
    whole = tuple(int(n) for n in shape)
    found = window(whole, begin, end, strides, masks)
    zeros = ops.broadcast(number(0, grad), shape=whole)
    return _written(zeros, grad, found)


def _written(x: Node, value: Node, found: Window) -> Node:
    if value.type.shape != found.sizes:
        value = ops.reshape(value, shape=found.sizes)
    if found.sizes == x.type.shape and all(step == 1 for step in found.steps):
        return value
    made: Node = ops.update_slice(x, value, starts(found.begin), strides=found.steps)
    return made


def assigned(
    x: Node, value: Node, begin: np.ndarray, end: np.ndarray, strides: np.ndarray,
    masks: dict[str, Any],
) -> Node:  # fmt: skip
    """`x` with a strided slice of it replaced by `value`, broadcast to its shape."""
    found = window(x.type.shape, begin, end, strides, masks)
    if value.type.shape != found.shape:
        value = ops.broadcast(value, shape=found.shape)
    return _written(x, value, found)


def _update(
    x: Node, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: Node, **masks: Any
) -> Node:
    return assigned(x, value, begin, end, strides, masks)


def attach() -> None:
    """Register the rows."""
    rows({"StridedSlice": _read}, host=(1, 2, 3), moving=True)
    rows({"StridedSliceGrad": _gradient}, host=(0, 1, 2, 3), moving=True)
    rows({"TensorStridedSliceUpdate": _update}, host=(1, 2, 3), moving=True)
