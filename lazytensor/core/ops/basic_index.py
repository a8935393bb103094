"""Basic keys (integers, slices, new axes, an ellipsis) as one strided slice and a reshape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lazytensor.core.buffers.cell import Chain
from lazytensor.core.ir.memo import keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.ops.basic_key import encoded
from lazytensor.core.ops.movement import reshape, reshape_step, slice_step


class Window:
    """A basic key applied to one shape: a strided slice of every axis, then a reshape.

    `steps` are its view steps; `sizes` is the shape of the slice, `shape` that of the result.
    """

    __slots__ = ("cut", "shape", "sizes", "steps")

    def __init__(self, base: Shape, spans: Sequence[Span], shape: Shape) -> None:
        begin, sizes, strides = zip(*spans, strict=True) if spans else ((), (), ())
        whole = sizes == base and all(stride == 1 for stride in strides)
        self.cut = slice_step(begin, sizes, strides)
        self.sizes: Shape = sizes
        self.shape = shape
        cut = () if whole else (self.cut,)
        self.steps: Chain = cut if sizes == shape else (*cut, reshape_step(shape))

    def read(self, x: Node) -> Node:
        """`x` indexed by the key."""
        for step in self.steps:
            x = step.read(x)
        return x

    def write(self, x: Node, value: Node) -> Node:
        """`x` with the indexed part replaced by `value`, of shape `shape`."""
        if value.type.shape != self.sizes:
            value = reshape(value, shape=self.sizes)
        return self.cut.write(x, value)


Span = tuple[int, int, int]
"""Start, size and stride on an axis."""
_windows: Final[dict[Any, Window]] = memory()


def window(shape: Shape, key: tuple[Any, ...]) -> Window:
    """The window of a key on arrays of this shape.

    key: items that are ints, slices, None or one ellipsis, with no more ints and slices than axes.
    Raises: IndexError.
    """
    code = encoded(key)
    if code is None:
        raise IndexError(f"integers, slices, None and one ellipsis are basic keys, got {key}")
    found = _windows.get((shape, code))
    if found is None:
        found = _window(shape, key)
        keep(_windows, (shape, code), found)
    return found


def _window(shape: Shape, key: tuple[Any, ...]) -> Window:
    rest = len(shape) - sum(item is not None and item is not ... for item in key)
    if rest < 0:
        raise IndexError(f"{len(shape) - rest} indices for {len(shape)} axes")
    if sum(item is ... for item in key) > 1:
        raise IndexError("a key has at most one ellipsis")
    items = [*key] if ... in key else [*key, ...]
    at = items.index(...)
    items[at : at + 1] = [slice(None)] * rest
    lengths = iter(shape)
    spans = [(0, 1, 1) if item is None else _span(item, next(lengths)) for item in items]
    shown = [size for item, (_, size, _) in zip(items, spans, strict=True) if type(item) is not int]
    cut = [span for item, span in zip(items, spans, strict=True) if item is not None]
    return Window(shape, cut, tuple(shown))


def _span(item: Any, n: int) -> Span:
    """Start, size and stride on an axis of length `n`."""
    if type(item) is int:
        if not -n <= item < n:
            raise IndexError(f"index {item} is out of bounds for an axis of {n} elements")
        return item % n, 1, 1
    start, stop, stride = item.indices(n)
    size = len(range(start, stop, stride))
    return (start if size else 0), size, (stride if size > 1 else 1)
