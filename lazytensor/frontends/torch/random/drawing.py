"""Random numbers: what fills a tensor in place, samples and permutations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import COMPLEX, F32, F64, FLOATS, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib import random
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows, write
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.random.bounds import (
    greatest,
    require_dtype,
    require_permutation,
    require_uniform,
    whole_range,
)
from lazytensor.frontends.torch.random.randomness import stream_of
from lazytensor.frontends.torch.tensors.tensor import node, numpy_dtype, ref

Draw = Callable[..., Node]


def _scaled(unit: Node, scale: Any, shift: Any) -> Node:
    own = unit.type.dtype
    return unit * cast_to(scale, own) + cast_to(shift, own)


def _uniform(
    shape: Shape, dtype: np.dtype, generator: Any, low: Any = 0.0, high: Any = 1.0
) -> Node:
    require_uniform(dtype, low, high)
    if dtype in COMPLEX:
        real = real_of(dtype)
        parts = [_uniform(shape, real, generator, low, high) for _ in range(2)]
        return cast_to(ops.complex_(*parts), dtype)
    return _scaled(random.uniform(shape, dtype, stream_of(generator)), high - low, low)


def _normal(shape: Shape, dtype: np.dtype, generator: Any, mean: Any = 0.0, std: Any = 1.0) -> Node:
    require(std >= 0)
    if dtype.kind == "c":  # both parts have half of the variance
        real = F64 if dtype.itemsize == 16 else F32
        parts = [random.normal(shape, real, stream_of(generator)) for _ in range(2)]
        return _scaled(cast_to(ops.complex_(*parts), dtype), std * 0.5**0.5, mean)
    return _scaled(random.normal(shape, dtype, stream_of(generator)), std, mean)


def _within(x: Node, most: float) -> Node:
    """Whether elements are from 0 to `most`."""
    return (x >= 0.0) & (x <= like(most, x))


def bernoulli(shape: Shape, p: Any, generator: Any = None) -> Node:
    """True with probability `p`."""
    share = operand(p)
    if isinstance(share, Node):
        require(share.type.dtype in FLOATS)
        text = "Expected p_in >= 0 && p_in <= 1 to be true, but got false."
        share = sure(share, _within(share, 1.0), text)
    draws = random.uniform(shape, F32, stream_of(generator))
    return draws < cast_to(share, F32)


def _bernoulli(shape: Shape, dtype: np.dtype, generator: Any, p: Any = 0.5) -> Node:
    if isinstance(p, int | float):
        require(0 <= p <= 1)
    return bernoulli(shape, p, generator)


def _exponential(shape: Shape, dtype: np.dtype, generator: Any, rate: float = 1.0) -> Node:
    require(rate > 0)
    return _scaled(random.exponential(shape, dtype, stream_of(generator)), 1 / rate, 0.0)


def _geometric(shape: Shape, dtype: np.dtype, generator: Any, p: float) -> Node:
    require(0 < p < 1)
    return ops.ceil(_exponential(shape, dtype, generator, float(-np.log1p(-p))))


def _log_normal(
    shape: Shape, dtype: np.dtype, generator: Any, mean: float = 1.0, std: float = 2.0
) -> Node:
    require(std > 0)
    return ops.exp(_scaled(random.normal(shape, dtype, stream_of(generator)), std, mean))


def _cauchy(
    shape: Shape, dtype: np.dtype, generator: Any, median: float = 0.0, sigma: float = 1.0
) -> Node:
    require(sigma > 0)
    return _scaled(random.cauchy(shape, dtype, stream_of(generator)), sigma, median)


def _random(
    shape: Shape, dtype: np.dtype, generator: Any, low: int = 0, high: int | None = None
) -> Node:
    """Whole numbers from `low` to below `high`."""
    first, beyond = whole_range(dtype, low, high)
    return random.whole_numbers(shape, first, beyond - first, stream_of(generator))


def _any_random(shape: Shape, dtype: np.dtype, generator: Any) -> Node:
    """Whole numbers from 0 on, of all that a dtype has."""
    return random.whole_numbers(shape, 0, greatest(dtype) + 1, stream_of(generator))


def _in_place(name: str, draw: Draw) -> Row:
    def kernel(self: Any, *args: Any, generator: Any = None) -> Any:
        type = ref(self).type
        require_dtype(name, type.dtype)
        write(self, cast_to(draw(type.shape, type.dtype, generator, *args), type.dtype))
        return self

    return kernel


def _fresh_bernoulli(x: Any, p: Any = None, generator: Any = None) -> Node:
    type = ref(x).type
    require_dtype("bernoulli_.Tensor" if p is None else "bernoulli_.float", type.dtype)
    made = _bernoulli(type.shape, type.dtype, generator, x if p is None else p)
    return cast_to(made, type.dtype)


def _permutation(n: int, generator: Any = None, dtype: Any = torch.int64, **_: Any) -> Node:
    wanted = numpy_dtype(dtype or torch.int64)
    require_permutation(wanted, n)
    order = random.permutation(n, stream_of(generator))
    return cast_to(order, wanted)


def _checked_weights(x: Node, replacement: bool) -> Node:
    """Weights of which at least one is not zero: checked when the program runs."""
    most = float(np.finfo(x.type.dtype).max)
    text = "probability tensor contains either `inf`, `nan` or element < 0"
    if replacement:
        text = "invalid multinomial distribution (encountering probability entry < 0, inf or nan)"
    made = sure(x, _within(x, most), text)
    some = ops.reduce_or(x > 0.0, axes=(x.type.ndim - 1,))
    return sure(made, some, "invalid multinomial distribution (sum of probabilities <= 0)")


MOST_CATEGORIES: Final = 2**24
"""More than that torch's other devices cannot tell apart in single precision."""


def _multinomial(x: Any, count: int, replacement: bool = False, generator: Any = None) -> Node:
    weights = node(x)
    shape = weights.type.shape
    require(1 <= len(shape) <= 2 and weights.type.dtype in FLOATS)
    require(count > 0 and (replacement or count <= shape[-1]))
    require(shape[-1] <= MOST_CATEGORIES, "number of categories cannot exceed 2^24")
    real = F64 if weights.type.dtype == F64 else F32
    weights = _checked_weights(cast_to(weights, real), replacement)
    stream = stream_of(generator)
    if not replacement or count == 1:
        return random.categories_apart(weights, count, stream)
    return random.categories(weights, count, stream)


def _normal_of(mean: Any, std: Any = 1.0, generator: Any = None) -> Node:
    """A draw for each mean or deviation, the one or the other of which may be a number."""
    center, width = operand(mean), operand(std)
    if isinstance(width, Node):
        dtype = center.type.dtype if isinstance(center, Node) else width.type.dtype
        require(width.type.dtype.kind != "c")
        positive = width >= 0.0
        width = sure(width, positive, "normal expects all elements of std >= 0.0")
    else:
        dtype = center.type.dtype
        require(width >= 0)
    require_dtype("normal_", dtype)
    shapes = [t.type.shape for t in (center, width) if isinstance(t, Node)]
    shape = np.broadcast_shapes(*shapes)
    return cast_to(_scaled(_normal(shape, dtype, generator), width, center), dtype)


IN_PLACE: Final[dict[str, Draw]] = {
    "uniform_": _uniform,
    "normal_": _normal,
    "bernoulli_.float": _bernoulli,
    "bernoulli_.Tensor": _bernoulli,
    "exponential_": _exponential,
    "geometric_": _geometric,
    "log_normal_": _log_normal,
    "cauchy_": _cauchy,
    "random_": _any_random,
    "random_.to": lambda shape, dtype, generator, to: _random(shape, dtype, generator, 0, to),
    "random_.from": _random,
}

ROWS: Final[dict[str, Row]] = {
    "bernoulli": _fresh_bernoulli,
    "bernoulli.p": _fresh_bernoulli,
    "multinomial": _multinomial,
    "normal.Tensor_float": _normal_of,
    "normal.float_Tensor": _normal_of,
    "normal.Tensor_Tensor": _normal_of,
    "randperm": _permutation,
    "randperm.generator": _permutation,
}


def _rrelu(
    x: Any, noise: Any, lower: Any = 0.125, upper: Any = 1 / 3, training: bool = False,
    generator: Any = None,
) -> Node:  # fmt: skip
    """`x`, by a slope where it is not positive; `noise` gets the slopes that were drawn."""
    given = operand(x)
    dtype = given.type.dtype
    one, flat = cast_to(1.0, dtype), given <= 0.0
    if not training:
        slope = cast_to((lower + upper) / 2, dtype)
        return ops.select(flat, given * slope, given)
    drawn = cast_to(_uniform(given.type.shape, dtype, generator, lower, upper), dtype)
    slopes = ops.select(flat, drawn, one)
    write(noise, slopes)
    return given * slopes


rows({"rrelu_with_noise": _rrelu})
for name, draw in IN_PLACE.items():
    register(name, _in_place(name, draw))
rows(ROWS)
