"""Programs that are exported: each with its example arguments, and what it gives by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.artifacts import Artifact

RANDOM = np.random.RandomState(0)
CLOSE = 1e-5
"""How far the largest number of another runtime may be from ours, as a share of it."""


@dataclass(frozen=True)
class Example:
    """A program. function: makes it. arrays: its arguments. size: the axis that may be open."""

    function: Callable[[], Any]
    arrays: tuple[np.ndarray, ...]
    size: tuple[str, int] | None = None

    def exported(self, is_open: bool = False, name: str = "program") -> Artifact:
        """The artifact."""
        function = self.function()
        symbolic = {self.size[0]: {self.size[1]: "batch"}} if is_open and self.size else None
        return lazytensor.export(function, *self.given(function), name=name, symbolic=symbolic)

    def given(self, function: Any) -> list[Any]:
        """The arguments as arrays of the function's framework."""
        from lazytensor.artifacts.tracing import from_host

        return [from_host(function, x) for x in self.arrays]

    def values(self) -> list[np.ndarray]:
        """What the function gives when it is called."""
        function = self.function()
        return list(leaves(function(*self.given(function))))

    def batches(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Arguments with other sizes where the size may be left open."""
        assert self.size is not None
        axis = self.size[1]
        for count in (1, 2, 9):
            yield tuple(np.concatenate([x] * 9, axis)[_first(axis, count)] for x in self.arrays)


def _first(axis: int, count: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(count))


def leaves(value: Any) -> Iterator[np.ndarray]:
    """The arrays in nested tuples, lists and dicts, as NumPy's."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for x in value:
            yield from leaves(x)
    else:
        yield np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)


def assert_close(found: Any, expected: Any, share: float = CLOSE) -> None:
    """Whether arrays have the same shapes and dtypes, and nearly the same values."""
    pairs = list(zip(leaves(found), leaves(expected), strict=True))
    assert pairs
    for x, y in pairs:
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        most = max(1.0, float(np.abs(y[np.isfinite(y)]).max(initial=0)))
        np.testing.assert_allclose(x, y, rtol=share, atol=share * most)


def _floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@cache
def _pipeline() -> Any:
    weights, bias = lnp.array(_floats(5, 4)), lnp.array(_floats(4))

    def pipeline(x: Any) -> Any:
        scaled = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)
        scores = lnp.tanh(scaled @ weights + bias)
        best = scores.argmax(axis=1)
        smooth = lnp.exp(scores - scores.max(axis=1, keepdims=True))
        return {"best": best, "share": smooth / smooth.sum(axis=1, keepdims=True)}

    return pipeline


@cache
def _indexing() -> Any:
    rows = lnp.array([0, 2, 2])

    def indexing(x: Any) -> Any:
        x[1:3] *= 2.0
        x[:, 0] = -1.0
        ordered = lnp.sort(x, axis=1)
        return ordered[rows, 1:], lnp.where(x > 0, x, lnp.log1p(lnp.abs(x))), x[::-1].cumsum(axis=0)

    return indexing


def _double() -> Any:
    return lambda x: lnp.sqrt(lnp.sin(x) ** 2 + 1.0) @ lnp.arange(5.0)


def _systems() -> Any:
    """What LAPACK does where it is there."""

    def systems(x: Any) -> Any:
        matrix = x @ x.swapaxes(-1, -2) + lnp.eye(4, dtype=lnp.float32)
        factor = lnp.linalg.cholesky(matrix)
        return lnp.linalg.solve(matrix, x), lnp.linalg.det(matrix) / 100, factor.sum(axis=-1)

    return systems


@cache
def _torch_module(kind: str) -> Any:
    import torch
    from torch import nn

    import lazytensor.torch  # noqa: F401

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
    made = {
        "mlp": lambda: nn.Sequential(
            nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Dropout(0.5), nn.Linear(16, 3)
        ),
        "cnn": lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, stride=2, groups=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
            nn.Flatten(), nn.Linear(8, 4), nn.Softmax(dim=-1),
        ),
        "transformer": lambda: nn.Sequential(nn.Embedding(20, 16), layer, nn.Linear(16, 20)),
        "lstm": lambda: nn.LSTM(4, 6, num_layers=2, batch_first=True),
    }[kind]()  # fmt: skip
    return made.eval()


@cache
def _mixed() -> Any:
    """NumPy before and after a torch module."""
    module = deepcopy(_torch_module("mlp")).to("lazytensor").requires_grad_(False)

    def mixed(x: Any) -> Any:
        from lazytensor.torch import from_lazy

        return lnp.asarray(module(from_lazy(lnp.asarray(x) * 0.5))).max(axis=1)

    return mixed


@cache
def _keras() -> Any:
    import keras

    import lazytensor.tf  # noqa: F401

    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((6, 5)),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.5),
            keras.layers.GRU(4),
            keras.layers.Dense(2),
        ]
    )


@cache
def _tf_function() -> Any:
    import tensorflow as tf

    import lazytensor.tf  # noqa: F401

    scale = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def scaled(x: Any) -> Any:
        return tf.nn.softmax(tf.nn.relu(x) * scale), tf.reduce_sum(x, axis=-1)

    return scaled


WORDS = RANDOM.randint(0, 20, (3, 7))
PROGRAMS: dict[str, Example] = {
    "pipeline": Example(_pipeline, (_floats(6, 5),), ("x", 0)),
    "indexing": Example(_indexing, (_floats(4, 5),)),
    "systems": Example(_systems, (_floats(2, 4, 3),)),
    "double": Example(_double, (RANDOM.standard_normal((3, 5)),), ("x", 0)),
    "mlp": Example(lambda: _torch_module("mlp"), (_floats(4, 8),), ("input", 0)),
    "cnn": Example(lambda: _torch_module("cnn"), (_floats(2, 3, 16, 16),), ("input", 0)),
    "transformer": Example(lambda: _torch_module("transformer"), (WORDS,), ("input", 0)),
    "lstm": Example(lambda: _torch_module("lstm"), (_floats(2, 5, 4),), ("input", 0)),
    "keras": Example(_keras, (_floats(2, 6, 5),), ("inputs", 0)),
    "tf_function": Example(_tf_function, (_floats(4, 3),), ("x", 0)),
    "mixed": Example(_mixed, (_floats(4, 8),), ("x", 0)),
}
