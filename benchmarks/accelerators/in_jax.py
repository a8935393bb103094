"""The models in jax, as an expert writes them: one function per step, jitted whole.

A step of training returns the gradients too, which torch keeps in `.grad`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.accelerators.sizes import (
    ATTENTION,
    BERT,
    JACOBI_SIDE,
    MLP,
    OPTIONS,
    RESNET,
    RESNET_STAGES,
)

RATE: Final = 0.1
Step = Callable[..., Any]
Arrays = Sequence[Any]


def _linear(x: Any, w: Any, b: Any) -> Any:
    return x @ w.T + b


def _cross_entropy(logits: Any, labels: Any) -> Any:
    shares = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(shares, labels[:, None], axis=1).mean()


def _shape(*sizes: int) -> Any:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def _labels(n: int) -> Any:
    return jax.ShapeDtypeStruct((n,), jnp.int64)


def mlp() -> tuple[Step, tuple[Any, ...]]:
    """A step of plain gradient descent."""
    widths = MLP.widths
    shapes = [s for m, n in pairwise(widths) for s in (_shape(n, m), _shape(n))]

    def loss(params: Arrays, x: Any, y: Any) -> Any:
        for i in range(0, len(params), 2):
            x = _linear(x, params[i], params[i + 1])
            x = jax.nn.relu(x) if i + 2 < len(params) else x
        return _cross_entropy(x, y)

    def step(params: Arrays, x: Any, y: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, x, y)
        return [p - RATE * g for p, g in zip(params, slopes, strict=True)], slopes, value

    return step, (shapes, _shape(MLP.batch, widths[0]), _labels(MLP.batch))


def _attend(x: Any, weights: Arrays, heads: int) -> Any:
    batch, length, width = x.shape
    q, k, v = (
        _linear(x, w, b).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)
        for w, b in zip(weights[0:6:2], weights[1:6:2], strict=True)
    )
    scores = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(width // heads))
    mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return _linear(mixed, weights[6], weights[7])


def attention() -> tuple[Step, tuple[Any, ...]]:
    """A step of a block of attention."""
    width = ATTENTION.width
    shapes = [_shape(width, width), _shape(width)] * 4

    def loss(params: Arrays, x: Any) -> Any:
        return jnp.square(_attend(x, params, ATTENTION.heads)).mean()

    def step(params: Arrays, x: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, x)
        return [p - RATE * g for p, g in zip(params, slopes, strict=True)], slopes, value

    return step, (shapes, _shape(ATTENTION.batch, ATTENTION.length, width))


def _normalized(x: Any, w: Any, b: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * w + b


def bert() -> tuple[Step, tuple[Any, ...]]:
    """A step of Adam of an encoder."""
    width, wide = BERT.width, 4 * BERT.width
    square, line = _shape(width, width), _shape(width)
    layer = [square, line] * 4 + [line] * 4
    layer += [_shape(wide, width), _shape(wide), _shape(width, wide), line]
    shapes = [_shape(BERT.words, width)] + layer * BERT.layers
    shapes += [_shape(BERT.words, width), _shape(BERT.words)]

    def loss(params: Arrays, words: Any, labels: Any) -> Any:
        x = params[0][words]
        for i in range(BERT.layers):
            w = params[1 + i * len(layer) : 1 + (i + 1) * len(layer)]
            x = _normalized(x + _attend(x, w[:8], BERT.heads), w[8], w[9])
            hidden = jax.nn.gelu(_linear(x, w[12], w[13]), approximate=False)
            x = _normalized(x + _linear(hidden, w[14], w[15]), w[10], w[11])
        logits = _linear(x, params[-2], params[-1])
        return _cross_entropy(logits.reshape(-1, BERT.words), labels.reshape(-1))

    def step(params: Arrays, first: Arrays, second: Arrays, count: Any, *data: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, *data)
        count = count + 1
        one, two = 1 - 0.9**count, jnp.sqrt(1 - 0.999**count)
        first = [0.9 * m + 0.1 * g for m, g in zip(first, slopes, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, slopes, strict=True)]
        params = [
            p - 1e-3 / one * m / (jnp.sqrt(v) / two + 1e-8)
            for p, m, v in zip(params, first, second, strict=True)
        ]
        return params, first, second, count, slopes, value

    words = jax.ShapeDtypeStruct((BERT.batch, BERT.length), jnp.int64)
    return step, (shapes, shapes, shapes, _shape(), words, words)


def _convolved(x: Any, w: Any, stride: int) -> Any:
    pad = w.shape[-1] // 2
    return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2)


def _batch_normalized(x: Any, w: Any, b: Any, kept: Arrays) -> tuple[Any, list[Any]]:
    mean = x.mean((0, 2, 3))
    variance = jnp.square(x - mean[:, None, None]).mean((0, 2, 3))
    scale = (lax.rsqrt(variance + 1e-5) * w)[:, None, None]
    count = x.size // x.shape[1]
    unbiased = variance * (count / (count - 1))
    moved = [0.9 * old + 0.1 * new for old, new in zip(kept, (mean, unbiased), strict=True)]
    return (x - mean[:, None, None]) * scale + b[:, None, None], moved


def resnet() -> tuple[Step, tuple[Any, ...]]:
    """A step of descent with momentum of ResNet-18 for small images."""
    layers = _resnet_layers()
    shapes = [
        s for out, inner, k, _ in layers for s in (_shape(out, inner, k, k), *[_shape(out)] * 2)
    ]
    shapes += [_shape(RESNET.classes, layers[-1][0]), _shape(RESNET.classes)]
    moments = [s for out, *_ in layers for s in [_shape(out)] * 2]

    def loss(params: Arrays, kept: Arrays, x: Any, y: Any) -> Any:
        at, moved = iter(range(len(layers))), []

        def unit(x: Any) -> Any:
            i = next(at)
            w, gain, shift = params[3 * i : 3 * i + 3]
            made, new = _batch_normalized(
                _convolved(x, w, layers[i][3]), gain, shift, kept[2 * i : 2 * i + 2]
            )
            moved.extend(new)
            return made

        x = jax.nn.relu(unit(x))
        for stage, _ in enumerate(RESNET_STAGES):
            for block in range(2):
                inner = jax.nn.relu(unit(x))
                inner = unit(inner)
                x = jax.nn.relu(inner + (unit(x) if stage and not block else x))
        return _cross_entropy(_linear(x.mean((2, 3)), params[-2], params[-1]), y), moved

    def step(params: Arrays, kept: Arrays, speeds: Arrays, x: Any, y: Any) -> Any:
        (value, kept), slopes = jax.value_and_grad(loss, has_aux=True)(params, kept, x, y)
        speeds = [0.9 * v + g for v, g in zip(speeds, slopes, strict=True)]
        params = [p - RATE * v for p, v in zip(params, speeds, strict=True)]
        return params, kept, speeds, slopes, value

    images = _shape(RESNET.batch, 3, RESNET.side, RESNET.side)
    return step, (shapes, moments, shapes, images, _labels(RESNET.batch))


def _resnet_layers() -> list[tuple[int, int, int, int]]:
    """Per convolution: features out and in, the window's side, the stride."""
    found, inner = [(RESNET_STAGES[0], 3, 3, 1)], RESNET_STAGES[0]
    for stage, out in enumerate(RESNET_STAGES):
        for block in range(2):
            stride = 2 if stage and not block else 1
            found += [(out, inner, 3, stride), (out, out, 3, 1)]
            if stage and not block:
                found.append((out, inner, 1, stride))
            inner = out
    return found


def jacobi() -> tuple[Step, tuple[Any, ...]]:
    """A sweep of a five-point stencil."""

    def step(u: Any) -> Any:
        inner = u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].set(0.2 * inner)

    return step, (jax.ShapeDtypeStruct((JACOBI_SIDE,) * 2, jnp.float64),)


def black_scholes() -> tuple[Step, tuple[Any, ...]]:
    """Prices of calls and of puts."""

    def step(price: Any, strike: Any, years: Any) -> Any:
        spread = 0.2 * jnp.sqrt(years)
        d1 = (jnp.log(price / strike) + (0.02 + 0.02) * years) / spread
        d2 = d1 - spread
        value = strike * jnp.exp(-0.02 * years)

        def normal(x: Any) -> Any:
            return 0.5 * (1.0 + jnp.tanh(x * (0.7978845608 + 0.0356774081 * x * x)))

        call = price * normal(d1) - value * normal(d2)
        return jnp.stack([call, call - price + value])

    return step, (jax.ShapeDtypeStruct((OPTIONS,), jnp.float64),) * 3


MODELS = {f.__name__: f for f in (mlp, attention, bert, resnet, jacobi, black_scholes)}
STATE: Final = {"mlp": 1, "attention": 1, "bert": 4, "resnet": 3, "jacobi": 1, "black_scholes": 0}
"""Per model: how many of the step's arguments are its first results, one step later."""
