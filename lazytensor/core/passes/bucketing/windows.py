"""Windows over axes with room: convolutions and reductions of windows.

A batch may grow, also where a gradient is a sum over it, and what windows move over one by one.
"""

from __future__ import annotations

from lazytensor.core.ops.contraction import dense, layouts
from lazytensor.core.passes.bucketing.builder import Builder, PaddedValue, neutral
from lazytensor.core.passes.bucketing.compare import GrownAxis, Line, Refused

Pair = tuple[int, int]


def slid(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    """`reduce_window`."""
    (x,), attrs = operands, line.op.attrs_of(line.attrs)
    padding, grown = list(attrs["padding"]), list(x.grown)
    number = neutral(attrs["kind"], x.type.dtype)
    for axis, extent in enumerate(x.grown):
        window, stride, around = attrs["window"][axis], attrs["strides"][axis], padding[axis]
        if extent is None or (window, stride, around) == (1, 1, (0, 0)):
            continue
        if attrs["base_dilation"][axis] != 1:
            raise _refused(line)
        reach = (window - 1) * attrs["window_dilation"][axis]
        padding[axis] = _around(line, extent, line.grown[axis], stride, reach, around[0])
        x, grown[axis] = b.replaced(x, [axis], number), line.grown[axis]
    return b.add(line.op, x, grown=tuple(grown), **attrs | {"padding": tuple(padding)})


def convolved(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    """`convolution`."""
    (x, w), attrs = operands, line.op.attrs_of(line.attrs)
    specs = layouts(attrs["dimensions"], x.type.ndim)
    (batch, features, *over), (made, taken, *kernel), (first, second, *result) = specs
    grown: list[GrownAxis | None] = [None] * x.type.ndim
    grown[first], grown[second] = x.grown[batch], w.grown[made]
    by_features, by_batch = attrs["feature_groups"] > 1, attrs["batch_groups"] > 1
    if (grown[second] and (by_features or by_batch)) or (grown[first] and by_batch):
        raise _refused(line)
    if x.grown[features] != w.grown[taken] or (x.grown[features] and by_features):
        raise _refused(line)
    x, w = b.replaced(x, [features], 0), b.replaced(w, [taken], 0)
    padding = list(attrs["padding"])
    plain = dense(
        len(padding), *(attrs[name] for name in ("lhs_dilation", "rhs_dilation", "reversal"))
    )
    for i, axes in enumerate(zip(over, kernel, result, strict=True)):
        extents = x.grown[axes[0]], w.grown[axes[1]], line.grown[axes[2]]
        if extents == (None, None, None):
            continue
        spread, apart, backwards = (each[i] for each in plain)
        if spread != 1:
            raise _refused(line)
        stride, low = attrs["strides"][i], padding[i][0]
        if extents[1] is None:
            reach = (w.type.shape[axes[1]] - 1) * apart
            padding[i] = _around(line, extents[0], extents[2], stride, reach, low)
        elif extents[2] is None and apart == stride == 1 and not backwards:
            # The gradient of a kernel: as many windows as the kernel has elements.
            _check_own(line, extents[0], extents[1])
            padding[i] = low, line.type.shape[axes[2]] - 1 - low
            w = b.replaced(w, [axes[1]], 0)
        else:
            raise _refused(line)
        x, grown[axes[2]] = b.replaced(x, [axes[0]], 0), extents[2]
    attrs |= {"padding": tuple(padding)}
    return b.add(line.op, x, w, grown=tuple(grown), **attrs)


def _around(
    line: Line,
    extent: GrownAxis | None,
    result: GrownAxis | None,
    stride: int,
    reach: int,
    low: int,
) -> Pair:
    """What is padded, so that there is a window for each place that there is room for.

    reach: how far the last element of a window lies from the first.
    """
    _check_own(line, extent, result)
    if stride != 1:
        raise _refused(line)
    return low, reach - low


def _check_own(line: Line, *extents: GrownAxis | None) -> None:
    if any(extent is None or extent.is_joined for extent in extents):
        raise _refused(line)


def _refused(line: Line) -> Refused:
    return Refused(
        f"windows of {line.op.name} that grow in steps, in groups, or joined with others"
    )
