"""Raw ops of one and two operands over every dtype and several shapes, against TF's kernels.

What TF refuses at a dtype is not asked of us. `HYPOTHESIS_PROFILE=nightly` runs all of it, CI a
cross-section. What differs is named in `gaps.py`; a gap that has closed fails here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor.frontends.tf.dispatch.opdef import find
from tests.sweeps import WHOLE
from tests.tensorflow_frontend.gaps import GAPS, marked
from tests.tensorflow_frontend.samples import BINARY, COMPARED, SPECIAL, UNARY, words

DTYPES = (
    tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64,
    tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.complex64, tf.complex128, tf.bool,
)  # fmt: skip
SHAPES: dict[int, list[tuple[tuple[int, ...], ...]]] = {
    1: [((),), ((0, 3),), ((5,),), ((2, 1, 7),)],
    2: [((), ()), ((0,), (1,)), ((40,), (40,)), ((3, 1), (2, 1, 4))],
}
MORE = words("LogicalNot Invert Conj PopulationCount Acosh ZerosLike")
PAIRS = words(
    """
    LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Igamma Igammac Zeta
    """
)
OPS = dict.fromkeys([*UNARY, *SPECIAL, *MORE], 1) | dict.fromkeys([*BINARY, *COMPARED, *PAIRS], 2)
NEAR = {tf.float16: 1e-2, tf.bfloat16: 6e-2, tf.float32: 3e-5, tf.complex64: 3e-5}
REFUSED = (tf.errors.OpError, TypeError, ValueError, NotImplementedError)


def data(dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Numbers at which every function of the table is smooth; small whole ones."""
    random = np.random.default_rng(seed)
    if dtype.is_floating or dtype.is_complex:
        return np.asarray(random.uniform(0.15, 0.9, shape)).astype(dtype.as_numpy_dtype)
    return np.asarray(random.integers(1, 5, shape)).astype(dtype.as_numpy_dtype)


def outcome(op: str, dtype: Any, shapes: Any) -> list[Any] | None:
    """The result and the gradients; None for what is refused."""
    function = getattr(tf.raw_ops, op)
    arrays = [data(dtype, shape, i) for i, shape in enumerate(shapes)]
    tensors = [tf.constant(x, dtype) for x in arrays]
    names = _names(op)
    smooth = dtype.is_floating or dtype.is_complex
    try:
        with tf.GradientTape() as tape:
            tape.watch(tensors if smooth else [])
            made = function(**dict(zip(names, tensors, strict=True)))
        slopes = tape.gradient(made, tensors) if smooth and made.dtype == dtype else []
    except LookupError:  # it has no gradient
        slopes = []
    except REFUSED:
        return None
    return [np.asarray(t.numpy()) for t in [made, *slopes] if t is not None]


def _names(op: str) -> list[str]:
    definition = find(op)
    assert definition is not None
    return [given.name for given in definition.inputs]


def differs(op: str, dtype: Any) -> bool:
    """Whether a result or a gradient is another than TF's at some shape."""
    for shapes in SHAPES[OPS[op]]:
        expected = outcome(op, dtype, shapes)
        if expected is None:
            continue
        with lazytensor.tf.enabled():
            found = outcome(op, dtype, shapes)
        if found is None or len(found) != len(expected):
            return True
        for x, y in zip(found, expected, strict=True):
            if x.dtype != y.dtype or x.shape != y.shape or not near(x, y, dtype):
                return True
    return False


def near(x: np.ndarray, y: np.ndarray, dtype: Any, least: float = 0.0) -> bool:
    """Whether two results agree as far as the dtype's kernels do, or to `least`."""
    if y.dtype.kind in "biu":
        return bool(np.array_equal(x, y))
    wide = np.complex128 if y.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    size = np.abs(y[np.isfinite(y)]).max(initial=1.0)
    apart = max(NEAR.get(dtype, 1e-9), least) * size
    return bool(np.allclose(x, y, rtol=0, atol=apart, equal_nan=True))


def cases() -> Iterator[tuple[str, Any]]:
    for i, op in enumerate(OPS):
        for j, dtype in enumerate(DTYPES):
            if WHOLE or (i + j) % 80 == 0:
                yield op, dtype


@pytest.mark.filterwarnings("ignore:.*is not lazy yet")
@pytest.mark.parametrize(("op", "dtype"), list(marked(cases(), GAPS)))
def test_an_op_is_tensorflows_at_a_dtype(op: str, dtype: Any) -> None:
    assert not differs(op, dtype)
