"""StableHLO's products, reductions, windows and sorts, as ONNX nodes."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from lazytensor.artifacts.targets.onnx.elementwise import ROWS as ELEMENTWISE
from lazytensor.artifacts.targets.onnx.elementwise import Rule
from lazytensor.artifacts.targets.onnx.graph import Graph, Refused, body_of, only_operation
from lazytensor.artifacts.targets.onnx.movement import spread
from lazytensor.backends.xla.portable.operations import Operation

REDUCTIONS: Final = {
    "add": "ReduceSum", "maximum": "ReduceMax", "minimum": "ReduceMin", "multiply": "ReduceProd",
    "and": "ReduceMin", "or": "ReduceMax",
}  # fmt: skip
OF_BOOLS: Final = {"add": "or", "maximum": "or", "minimum": "and", "multiply": "and"}
INT32: Final = np.dtype("int32")


def _dot_general(g: Graph, op: Operation, x: str, y: str) -> str:
    said = op.attributes["dot_dimension_numbers"]
    sides = []
    for name, value, side, is_left in (("lhs", x, 0, True), ("rhs", y, 1, False)):
        batch = said.get(f"{name}_batching_dimensions", ())
        contract = said.get(f"{name}_contracting_dimensions", ())
        shape = g.type(op.operands[side]).shape
        free = [i for i in range(len(shape)) if i not in batch and i not in contract]
        axes = [*batch, *free, *contract] if is_left else [*batch, *contract, *free]
        sides.append((g.transpose(value, axes), shape, batch, free, contract))
    (left, shape, batch, rows, contract), (right, other, _, columns, theirs) = sides
    wanted = g.type(op.results[0]).dtype
    left, right = (
        each if g.type(value).dtype == wanted else g.cast(each, wanted)
        for each, value in zip((left, right), op.operands, strict=True)
    )
    inner = prod(shape[i] for i in contract)
    batches = [shape[i] for i in batch]
    left = _folded(g, left, batches, [shape[i] for i in rows], [inner], len(contract))
    right = _folded(g, right, batches, [inner], [other[i] for i in columns], len(theirs))
    made = g.node("MatMul", left, right)
    if len(rows) == len(columns) == 1:
        return made
    result = g.type(op.results[0]).shape
    if result.count(-1) > 1:
        raise Refused("a product of arrays with several sizes that are known at run time only")
    return g.reshape(made, result)


def _folded(
    g: Graph, x: str, batches: list[int], first: list[int], second: list[int], count: int
) -> str:
    """The operand of a product as matrices: [*batches, rows, columns]."""
    if count == len(first) == len(second) == 1:
        return x
    sizes = [*batches, prod(first), prod(second)]
    if sum(n < 0 for n in (*batches, *first, *second)) > 1:
        raise Refused("a product of arrays with several sizes that are known at run time only")
    return g.reshape(x, [max(n, -1) for n in sizes])


def _extreme_with_place(g: Graph, op: Operation, x: str, places: str, *starts: str) -> list[str]:
    """The extreme, and the first place of it or of a NaN: jax's reduction of pairs."""
    block = op.regions[0]
    first = next((o for o in block.operations if o.name == "compare"), None)
    of_values = (block.arguments[0], block.arguments[2])
    kinds = {"GT": "ReduceMax", "LT": "ReduceMin"}
    is_known = first is not None and first.operands == of_values
    if first is None or not is_known or body_of(op).count("select") != 2:
        raise Refused(f"a reduction of pairs by a function of {', '.join(body_of(op))}")
    kind = kinds.get(first.attributes["comparison_direction"])
    if kind is None or g.type(op.operands[1]).dtype.kind not in "iu":
        raise Refused("a reduction of pairs that is no search for an extreme")
    axes = g.ints(op.attributes["dimensions"])
    there = g.node("Equal", x, g.node(kind, x, axes, keepdims=1))
    if g.type(op.operands[0]).dtype.kind == "f":
        there = g.node("Or", there, g.node("IsNaN", x))
    last = g.constant(np.iinfo(g.type(op.operands[1]).dtype).max, g.type(op.operands[1]).dtype)
    found = g.node("ReduceMin", g.node("Where", there, places, last), axes, keepdims=0)
    return [g.node(kind, x, axes, keepdims=0), found]


def _reduce(g: Graph, op: Operation, *xs: str) -> str | list[str]:
    if len(xs) == 4:
        return _extreme_with_place(g, op, *xs)
    if len(xs) != 2:
        raise Refused(f"a reduction of {len(xs) // 2} arrays at once")
    kind, dtype = only_operation(op), g.type(op.operands[0]).dtype
    axes = g.ints(op.attributes["dimensions"])
    x, start = xs
    if dtype.kind == "b":
        kind = OF_BOOLS.get(kind, kind)
        x = g.cast(x, INT32)
    if kind not in REDUCTIONS or (dtype.kind != "b" and kind in ("and", "or")):
        raise Refused(f"a reduction of {dtype} by {kind}")
    if not op.attributes["dimensions"]:
        return xs[0]
    if 0 in g.type(op.operands[0]).shape:
        return g.node("Expand", start, g.ints(g.static(op.results[0], "a reduction of nothing")))
    made = g.node(REDUCTIONS[kind], x, axes, keepdims=0)
    if dtype.kind == "b":
        made = g.cast(made, dtype)
    combine = op.regions[0].operations[0]
    found: str = ELEMENTWISE[combine.name](g, op, made, start)
    return found


def _reduce_window(g: Graph, op: Operation, *xs: str) -> str:
    """PoolWindows, an axis at a time: a window of 2n is two of n.

    ONNX's pools have floats only, and lose a NaN.
    """
    if len(xs) != 2:
        raise Refused(f"a window of {len(xs) // 2} arrays at once")
    only_operation(op)
    shape = g.type(op.operands[0]).shape
    said, ones = op.attributes, (1,) * len(shape)
    x, start = xs
    gaps = [n - 1 for n in said.get("base_dilations", ones)]
    for axis, (gap, window) in enumerate(zip(gaps, said["window_dimensions"], strict=True)):
        if gap or (window > 1 and shape[axis] < 0):
            g.static(op.operands[0], "windows")
        if gap:
            x = spread(g, x, shape, axis, gap, start, gaps[:axis])
    sides = said.get("padding", [(0, 0)] * len(shape))
    if np.any(sides):
        x = g.node(
            "Pad", x, g.ints([*(low for low, _ in sides), *(high for _, high in sides)]), start
        )
    sizes = [n + max(0, n - 1) * gap for n, gap in zip(shape, gaps, strict=True)]
    sizes = [n + int(low) + int(high) for n, (low, high) in zip(sizes, sides, strict=True)]
    strides = said.get("window_strides", ones)
    steps = said.get("window_dilations", ones)
    for axis, window in enumerate(said["window_dimensions"]):
        if window > 1:
            x = _windows(g, op, x, axis, sizes[axis], window, steps[axis])
    if any(n > 1 for n in strides):
        zeros, ends = [0] * len(shape), [2**62] * len(shape)
        x = g.node("Slice", x, *map(g.ints, (zeros, ends, range(len(shape)), strides)))
    combine: str = ELEMENTWISE[only_operation(op)](g, op, x, start)
    return combine


def _windows(g: Graph, op: Operation, x: str, axis: int, size: int, window: int, step: int) -> str:
    """The windows along an axis of this size. step: from one element of a window to the next."""
    combine = ELEMENTWISE[only_operation(op)]
    whole, covered, width = "", 0, 1
    left = size - (window - 1) * step

    def shown(part: str, start: int, count: int) -> str:
        return g.node("Slice", part, *map(g.ints, ([start], [start + max(0, count)], [axis], [1])))

    while True:
        if window & width:  # this power of two is a part of the window, behind what is covered
            part = shown(x, covered * step, left)
            whole = str(combine(g, op, whole, part)) if whole else part
            covered += width
        if covered == window:
            return whole
        # x has windows of `width` at each place; double them.
        size -= width * step
        x = str(combine(g, op, shown(x, 0, size), shown(x, width * step, size)))
        width *= 2


def _convolution(g: Graph, op: Operation, x: str, kernel: str) -> str:
    said = op.attributes["dimension_numbers"]
    spatial = len(said["input"]) - 2
    ones = (1,) * spatial
    if op.attributes.get("batch_group_count", 1) != 1:
        raise Refused("a convolution whose batch is in groups")
    x, kernel = g.transpose(x, said["input"]), g.transpose(kernel, said["kernel"])
    shape = [g.type(op.operands[0]).shape[i] for i in said["input"]]
    zero = g.constant(0, g.type(op.operands[0]).dtype)
    gaps = [0, 0, *(n - 1 for n in op.attributes.get("lhs_dilation", ones))]
    for axis, gap in enumerate(gaps):
        if gap:
            x = spread(g, x, shape, axis, gap, zero, gaps[:axis])
    turned = op.attributes.get("window_reversal") or ()
    axes = [axis + 2 for axis, is_turned in enumerate(turned) if is_turned]
    if axes:
        minus = g.ints([-1] * len(axes))
        ends = g.ints([-(2**62)] * len(axes))
        kernel = g.node("Slice", kernel, minus, ends, g.ints(axes), minus)
    padding = op.attributes.get("padding")
    sides = [(0, 0)] * spatial if padding is None else [tuple(map(int, p)) for p in padding]
    if min(map(min, sides), default=0) < 0:
        pads = [0, 0, *(low for low, _ in sides), 0, 0, *(high for _, high in sides)]
        x, sides = g.node("Pad", x, g.ints(pads), zero), [(0, 0)] * spatial
    made = g.node(
        "Conv", x, kernel,
        group=op.attributes.get("feature_group_count", 1),
        strides=list(op.attributes.get("window_strides", ones)),
        dilations=list(op.attributes.get("rhs_dilation", ones)),
        pads=[low for low, _ in sides] + [high for _, high in sides],
    )  # fmt: skip
    order = said["output"]
    return g.transpose(made, [order.index(i) for i in range(len(order))])


def _sort(g: Graph, op: Operation, *xs: str) -> list[str]:
    """By the first array; where elements are equal, the first stays first, as in ONNX's TopK."""
    block = op.regions[0]
    names = body_of(op)
    first = block.operations[0] if names == ("compare",) else None
    if first is None or first.operands not in (block.arguments[:2], block.arguments[1::-1]):
        raise Refused(f"a sort by a function of {', '.join(names)}")
    direction = first.attributes["comparison_direction"]
    is_down = (direction in ("GT", "GE")) == (first.operands == block.arguments[:2])
    axis = op.attributes["dimension"]
    size = g.node("Gather", g.node("Shape", xs[0]), g.ints([axis]), axis=0)
    values, places = g.several("TopK", (xs[0], size), 2, axis=axis, largest=int(is_down))
    return [values, *(g.node("GatherElements", x, places, axis=axis) for x in xs[1:])]


ROWS: Final[dict[str, Rule]] = {
    "convolution": _convolution,
    "dot_general": _dot_general,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "sort": _sort,
}
