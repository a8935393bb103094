"""NaN, infinities and matrices that cannot be factored: TF's kernels say what is made of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf

NAN, INF = float("nan"), float("inf")
LINES = [
    [NAN, 2.0, 1.0, 3.0, 1.0, 0.5],
    [2.0, NAN, 1.0, 3.0, 3.0, 7.0],
    [2.0, 1.0, 3.0, -1.0, 0.0, NAN],
    [NAN, 2.0, NAN, 1.0, NAN, -1.0],
    [NAN] * 6,
    [INF, NAN, -INF, 0.5, NAN, 1.0],
    [-INF, NAN, -INF, NAN, -INF, -INF],
    [3.0, 1.0, 2.0, 2.0, INF, -INF],
]
DTYPES = (tf.float32, tf.float64, tf.float16, tf.bfloat16)
RAW = tf.raw_ops


def square(x: Any) -> Any:
    return tf.stack([x, x[::-1]])


def slopes(function: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = function(x)
    return tape.gradient(made, x)


def counted(x: Any) -> Any:
    return tf.cast(tf.range(1, x.shape[0] + 1), x.dtype)


def halves(x: Any) -> Any:
    return (tf.range(x.shape[0]) % 2)[:, None]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sort": tf.sort,
    "sort down": lambda x: tf.sort(x, direction="DESCENDING"),
    "sort columns": lambda x: tf.sort(square(x), axis=0),
    "argsort": tf.argsort,
    "argsort down": lambda x: tf.argsort(square(x), direction="DESCENDING", stable=True),
    "all of them": lambda x: tf.math.top_k(square(x), x.shape[0]),
    "gradient of sort": lambda x: slopes(lambda y: tf.sort(y) * counted(y), x),
    "among the first": lambda x: tf.math.in_top_k([0, 1], tf.cast(square(x), tf.float32), 2),
    "argmax": lambda x: [tf.argmax(x), tf.argmax(square(x), 0), tf.argmax(square(x), 1)],
    "argmin": lambda x: [tf.argmin(x), tf.argmin(square(x), 0), tf.argmin(square(x), 1)],
    "max": lambda x: [tf.reduce_max(x), tf.reduce_max(square(x), 0)],
    "min": lambda x: [tf.reduce_min(x), tf.reduce_min(square(x), 0)],
    "maximum": lambda x: [tf.maximum(x, x[::-1]), tf.minimum(tf.cast(1, x.dtype), x)],
    "clip": lambda x: tf.clip_by_value(x, tf.cast(-1, x.dtype), tf.cast(1, x.dtype)),
    "left": lambda x: tf.searchsorted(tf.constant([-1, 0, 1, 2], x.dtype), x),
    "right": lambda x: tf.searchsorted(tf.constant([-1, 0, 1, 2], x.dtype), x, side="right"),
    "in no order": lambda x: tf.searchsorted(square(x), square(x[::-1])),
    "right, in no order": lambda x: tf.searchsorted(square(x), square(x[::-1]), side="right"),
    "scattered max": lambda x: tf.tensor_scatter_nd_max(square(x)[0, :2], halves(x), x),
    "scattered min": lambda x: tf.tensor_scatter_nd_min(square(x)[0, :2], halves(x), x),
    "max pool": lambda x: tf.nn.max_pool2d(square(x)[None, :, :, None], 2, 1, "SAME"),
    "relu": lambda x: [tf.nn.relu(x), tf.nn.relu6(x), tf.nn.leaky_relu(x), tf.nn.elu(x)],
    "slope of relu": lambda x: RAW.ReluGrad(gradients=x, features=x[::-1]),
    "slope of relu6": lambda x: RAW.Relu6Grad(gradients=x, features=x[::-1]),
    "flags": lambda x: x * tf.cast(x > 1, x.dtype),
    "modulo": lambda x: [x % 2, x % 0, tf.ones_like(x) % x, x // 2, x // 0],
    "without NaN": lambda x: [tf.math.divide_no_nan(x, x - x), tf.math.multiply_no_nan(x, 0 * x)],
    "to integers": lambda x: [tf.cast(x, tf.int32), tf.cast(x, tf.int64), tf.cast(x, tf.bool)],
    "poles": lambda x: tf.math.is_nan(tf.math.digamma(tf.cast(counted(x), tf.float32) - 3.0)),
    "logarithm": lambda x: [tf.math.log(x - 2), tf.sqrt(x - 2), tf.math.rsqrt(x - 2)],
}  # fmt: skip

_good = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
_singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]])
_lower = np.array([[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 1.0, 4.0]])


def with_nan(row: int, column: int) -> np.ndarray:
    made = _good.copy()
    made[row, column] = NAN
    return made


MATRICES = {
    "negative": -np.eye(3),
    "singular": _singular,
    "zero": np.zeros((3, 3)),
    "indefinite": np.diag([1.0, -1.0, 2.0]),
    "NaN first": with_nan(0, 0),
    "NaN below": with_nan(2, 1),
    "NaN above": with_nan(0, 1),
    "a zero in the diagonal": _lower,
    "one of them negative": np.stack([_good, -_good, _good]),
    "one of them singular": np.stack([_good, _singular, _good]),
    "one of them NaN": np.stack([_good, with_nan(2, 2)]),
}
LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    # What lies above the diagonal of a triangle that there is not is whatever was in memory.
    "cholesky": lambda m, v: tf.linalg.band_part(tf.linalg.cholesky(m), -1, 0),
    "log det": lambda m, v: tf.linalg.logdet(m),
    "solve by cholesky": lambda m, v: tf.linalg.cholesky_solve(m, v),
    "inverse": lambda m, v: tf.linalg.inv(m),
    "solve": lambda m, v: tf.linalg.solve(m, v),
    "eigenvalues": lambda m, v: tf.linalg.eigvalsh(m),
    "eigenvectors": lambda m, v: tf.linalg.eigh(m)[0],
    "sign of det": lambda m, v: tf.linalg.slogdet(m),
    "det": lambda m, v: tf.linalg.det(m),
    "triangle": lambda m, v: tf.linalg.triangular_solve(m, v),
}
UNSURE = {("NaN first", "inverse"), ("NaN first", "solve")}
"""TF looks for the smallest pivot, and may or may not find one that is NaN."""


def outcome(function: Callable[..., Any], *arrays: Any) -> Any:
    """The results, or the class and the first words of the error."""
    try:
        made = function(*arrays)
        return [np.asarray(x.numpy()) for x in tf.nest.flatten(made)]
    except tf.errors.InvalidArgumentError as error:
        return type(error), re.sub(r"^\{\{.*?\}\} ", "", str(error))[:22]


LOWEST = ("max pool", tf.bfloat16)
"""TF finds the lowest number, or with oneDNN on processors with AVX512-BF16 minus infinity, where a
window has no number."""


def with_lowest_infinite(arrays: list[np.ndarray]) -> list[np.ndarray]:
    lowest = tf.bfloat16.min
    return [np.where(x == lowest, np.array(-INF, x.dtype), x) for x in arrays]


def agree(found: Any, expected: Any, apart: float) -> None:
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, tuple):
        assert found == expected
        return
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        exact = y.dtype.kind in "biu"
        wide = x.dtype if exact else np.float64
        np.testing.assert_allclose(
            x.astype(wide), y.astype(wide), rtol=0 if exact else apart, atol=0 if exact else apart
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_numbers_and_none_it_makes_what_tensorflow_makes(name: str, tier: str) -> None:
    function = FUNCTIONS[name]
    for i, dtype in enumerate(DTYPES if tier == "interpret" else DTYPES[:1]):
        for line in LINES[i % 2 :: 1 if i == 0 else 2]:
            x = tf.constant(line, dtype)
            expected = outcome(function, x)
            with lazytensor.tf.enabled():
                found = outcome(function, x)
            if (name, dtype) == LOWEST:
                found, expected = map(with_lowest_infinite, (found, expected))
            agree(found, expected, {4: 1e-5, 8: 1e-9}.get(dtype.size, 2e-2))


@pytest.mark.parametrize("count", [2, 7, 16])
def test_short_lines_are_sorted_as_by_insertion(count: int, tier: str) -> None:
    random = np.random.default_rng(count)
    lines = random.normal(size=(40, count)).round(1)
    lines[random.random(lines.shape) < 0.3] = np.nan
    expected = tf.argsort(tf.constant(lines)).numpy()
    with lazytensor.tf.enabled():
        np.testing.assert_array_equal(tf.argsort(tf.constant(lines)).numpy(), expected)


def test_what_is_taken_of_long_lines_are_numbers_first(tier: str) -> None:
    """There TF's order is what comparing with NaN leads its algorithm to."""
    line = np.arange(40.0)
    line[::3] = np.nan
    with lazytensor.tf.enabled():
        found = tf.sort(tf.constant(line)).numpy()
        largest = tf.math.top_k(tf.constant(line), 2)[0].numpy()
    np.testing.assert_array_equal(found, np.sort(line))
    np.testing.assert_array_equal(largest, [38.0, 37.0])


@pytest.mark.parametrize("name", LINEAR)
def test_of_bad_matrices_it_makes_what_tensorflow_makes(name: str, tier: str) -> None:
    function = LINEAR[name]
    for kind, matrix in MATRICES.items():
        if (kind, name) in UNSURE:
            continue
        x = tf.constant(matrix)
        v = tf.ones([*matrix.shape[:-1], 1], tf.float64)
        expected = outcome(function, x, v)
        with lazytensor.tf.enabled():
            found = outcome(function, x, v)
        agree(found, expected, 1e-9)
