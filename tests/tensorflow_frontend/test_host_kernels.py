"""TensorFlow's CPU kernels as the interpreter's: each gives what NumPy's reference gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor
import lazytensor.tf
from lazytensor.core import ops
from lazytensor.core.interpreter.interpreter import reference_of
from lazytensor.core.ir.op import leaf
from lazytensor.core.ops.convolutions import ConvolutionLayout
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.tf.host.convolution import convolution

DTYPES = [np.float32, np.float64]
IMAGE, KERNEL = (0, 3, 1, 2), (3, 2, 0, 1)
PADS = [((0, 0), (0, 0)), ((1, 1), (1, 1)), ((0, 1), (1, 2))]
CASES = list(product((1, 2), PADS, (1, 2)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("step", "pads", "gap"), CASES)
def test_convolutions_and_their_gradients(step: int, pads: Any, gap: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 15, 14, 4)).astype(dtype)
    w = rng.normal(size=(3, 3, 4, 6)).astype(dtype)
    layout = ConvolutionLayout((step,) * 2, pads, (gap,) * 2, 1, IMAGE, KERNEL)
    made = layout.of(leaf(x), leaf(w))
    grad = rng.normal(size=made.type.shape).astype(dtype)
    nodes = [
        made,
        layout.of_input(leaf(w), leaf(grad), x.shape[1:3]),
        layout.of_kernel(leaf(x), leaf(grad), w.shape[:2]),
    ]
    met = 0
    for node in nodes:
        arrays = [scheduler.fetch(x) for x in node.operands]
        types, attrs = [x.type for x in node.operands], ops.convolution.attrs_of(node.attrs)
        kernel = convolution(types, node.type, **attrs)
        if kernel is not None:
            met += 1
            mine, theirs = kernel(*arrays), reference_of(ops.convolution, node.attrs)(*arrays)
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
            rtol = 1e-4 if dtype == np.float32 else 1e-11  # sums in another order
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol)
    assert met == (3 if gap == 1 else 1)  # TensorFlow's gradients have no gaps on a CPU


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("pool", "dtype"),
    [
        *product(("max_pool2d", "avg_pool2d"), DTYPES),
        *product(("max_pool3d", "avg_pool3d"), DTYPES[:1]),  # TensorFlow has no others on a CPU
    ],
)
def test_pools_and_their_gradients(
    pool: str, dtype: Any, padding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded call, against TensorFlow's own."""
    monkeypatch.setattr(lazytensor.settings, "tier", "interpret")
    size = (2, 12, 12, 8) if "2d" in pool else (2, 6, 8, 6, 4)
    data = np.random.default_rng(0).normal(size=size).astype(dtype)

    def run() -> list[np.ndarray]:
        x = tf.constant(data)
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = getattr(tf.nn, pool)(x, 3, 2, padding)
            loss = tf.reduce_sum(made * made)
        return [made.numpy(), tape.gradient(loss, x).numpy()]

    wanted = run()
    with lazytensor.tf.enabled():
        found = run()
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_a_kernel_runs_past_recording_tapes_and_graphs() -> None:
    x = np.ones((4, 16, 16, 4), np.float32)
    w = np.ones((3, 3, 4, 4), np.float32)
    node = ConvolutionLayout((1, 1), ((0, 0),) * 2, (1, 1), 1, IMAGE, KERNEL).of(leaf(x), leaf(w))
    attrs = ops.convolution.attrs_of(node.attrs)
    kernel = convolution([leaf(x).type, leaf(w).type], node.type, **attrs)
    assert kernel is not None
    with lazytensor.tf.enabled(), tf.GradientTape() as tape, tf.Graph().as_default():
        made = kernel(x, w)
        assert not tape.watched_variables()
    assert type(made) is np.ndarray
    assert (made == 36).all()
