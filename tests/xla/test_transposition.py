"""Transposes that are carried through elementwise ops, and those that are written in blocks."""

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.op import leaf
from lazytensor.core.runtime.scheduler import fetch

pytestmark = pytest.mark.usefixtures("compiled")

PERMUTED = [
    ((128, 64, 9), (2, 1, 0)), ((64, 64, 3, 3), (2, 3, 1, 0)), ((64, 3, 3, 128), (3, 0, 1, 2)),
    ((8, 64, 24, 24), (0, 2, 3, 1)), ((4, 48, 7, 80), (3, 1, 0, 2)), ((3, 300, 80), (0, 2, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), PERMUTED)
def test_a_large_transpose_is_exact(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    turned = ops.transpose(leaf(x), axes=axes)
    kept, sum_ = turned, ops.add(turned, turned)
    expected = np.transpose(x, axes)
    np.testing.assert_array_equal(fetch(sum_), expected + expected)
    np.testing.assert_array_equal(fetch(kept), expected)


def test_small_operands_broadcast_against_transposes() -> None:
    random = np.random.default_rng(0)
    for _ in range(12):
        shape = tuple(int(n) for n in random.integers(2, 30, size=random.integers(2, 5)))
        axes = tuple(int(n) for n in random.permutation(len(shape)))
        x, there = random.standard_normal(shape), [shape[axis] for axis in axes]
        small = random.standard_normal([n if random.random() < 0.4 else 1 for n in there])
        line = random.standard_normal(there[-1])
        made = ops.multiply(ops.transpose(leaf(x), axes=axes), leaf(small))
        made = ops.reduce_sum(ops.add(made, leaf(line)), axes=(0,))
        expected = (np.transpose(x, axes) * small + line).sum(0)
        np.testing.assert_allclose(fetch(made), expected, rtol=1e-9, atol=1e-9)
