"""Pools and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.pool_gradients import PoolWindows, scattered_planes
from lazytensor.core.lib.pooling import max_pool_with_places
from lazytensor.core.lib.ranking import places_along
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import greatest, number
from lazytensor.frontends.tf.rows.indexing import wide
from lazytensor.frontends.tf.rows.reductions import passed_over
from lazytensor.frontends.tf.rows.windows import Ints, layout, paddings


def _plan(
    shape: Ints, *, ksize: Ints, strides: Ints, padding: str, explicit_paddings: Ints = (),
    data_format: str = "", **_: Any,
) -> dict[str, Any]:  # fmt: skip
    ndim = len(shape)
    form = layout(data_format or ("NHWC" if ndim == 4 else "NDHWC"), ndim)
    if ksize[form.feature] != 1 or ksize[form.batch] != 1:
        raise ValueError("windows over features or batches")
    ones = (1,) * len(form.spatial)
    inner = paddings(
        padding, explicit_paddings, form.inner(shape), form.inner(ksize), form.inner(strides),
        ones, form,
    )  # fmt: skip
    pairs = [(0, 0)] * ndim
    for axis, pair in zip(form.spatial, inner, strict=True):
        pairs[axis] = pair
    return {"window": ksize, "strides": strides, "padding": tuple(pairs)}


def _numbers(x: Node) -> Node:
    """`x` with the least finite number, which TF's kernel begins with, for NaN."""
    if x.type.dtype not in FLOATS:
        return x
    return ops.maximum(passed_over(x, True), number(-greatest(x), x))


def _max(x: Node, **attrs: Any) -> Node:
    return ops.max_pool(_numbers(x), **_plan(x.type.shape, **attrs))


def _max_grad(x: Node, y: Node, grad: Node, **attrs: Any) -> Node:
    return ops.max_pool_backward(grad, _numbers(x), y, **_plan(x.type.shape, **attrs))


def _mean(x: Node, **attrs: Any) -> Node:
    return ops.mean_pool(x, **_plan(x.type.shape, **attrs))


def _mean_grad(shape: np.ndarray, grad: Node, **attrs: Any) -> Node:
    whole = tuple(int(n) for n in shape)
    return ops.mean_pool_backward(grad, shape=whole, **_plan(whole, **attrs))


def _max_places(
    x: Node, *, ksize: Ints, strides: Ints, padding: str, include_batch_in_index: bool = False,
    Targmax: Any = S64, **_: Any,
) -> tuple[Node, Node]:  # fmt: skip
    """The largest of each window of images, and its place in the image, channels last."""
    plan = _plan(x.type.shape, ksize=ksize, strides=strides, padding=padding)
    pads = plan["padding"][1:3]
    height, width, channels = x.type.shape[1:]
    sizes, steps = ksize[1:3], strides[1:3]
    count = tuple(
        (m + low + high - k) // s + 1
        for m, k, s, (low, high) in zip((height, width), sizes, steps, pads, strict=True)
    )
    windows = PoolWindows(sizes, (1, 1), steps, tuple(low for low, _ in pads))
    given = ops.transpose(_numbers(x), axes=(0, 3, 1, 2))
    made, places = (
        ops.transpose(t, axes=(0, 2, 3, 1)) for t in max_pool_with_places(given, windows, count)
    )
    places = places * channels + places_along(places, 3)
    if include_batch_in_index:
        places = places + places_along(places, 0) * (height * width * channels)
    return made, ops.convert(places, dtype=Targmax)


def _max_places_grad(
    x: Node, grad: Node, places: Node, *, include_batch_in_index: bool = False, **_: Any
) -> Node:
    places, shape = wide(places), x.type.shape
    if include_batch_in_index:
        return scattered_planes(grad, places, shape, 4)
    return scattered_planes(grad, places, shape, 3)


rows({"MaxPoolWithArgmax": _max_places}, moving=True)
rows({"MaxPoolGradWithArgmax": _max_places_grad})
rows({"MaxPool": _max, "MaxPool3D": _max, "MaxPoolGrad": _max_grad,
      "MaxPool3DGrad": _max_grad, "AvgPool": _mean, "AvgPool3D": _mean})  # fmt: skip
rows({"AvgPoolGrad": _mean_grad, "AvgPool3DGrad": _mean_grad}, host=(0,))
