"""Sums of segments, and the dense ends of sparse and ragged tensors: values and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics
from tests.tensorflow_frontend.samples import x

IDS = tf.constant([0, 0, 2, 2, 2, 5])
PLACES = tf.constant([4, 0, 0, 3, 1, 1])
CELLS = np.array([[0, 1], [2, 0], [2, 3]])

Call = Callable[[Any], Any]
raw = tf.raw_ops


def ragged(splits: list[list[int]]) -> Callable[[Any], Any]:
    def made(values: Any) -> Any:
        return tf.RaggedTensor.from_nested_row_splits(values, splits)

    return made


def sparse(values: Any) -> Any:
    return tf.SparseTensor(CELLS, values, [3, 4])


CALLS: dict[str, tuple[tuple[int, ...], Call]] = {
    "sum": ((6, 2), lambda v: raw.SegmentSum(data=v, segment_ids=IDS)),
    "mean": ((6, 2), lambda v: raw.SegmentMean(data=v, segment_ids=IDS)),
    "prod": ((6,), lambda v: raw.SegmentProd(data=v, segment_ids=IDS)),
    "max": ((6, 2), lambda v: raw.SegmentMax(data=v, segment_ids=IDS)),
    "min": ((6,), lambda v: raw.SegmentMin(data=v, segment_ids=IDS)),
    "sparse-sum": ((5, 3), lambda v: tf.sparse.segment_sum(v, PLACES, IDS)),
    "sparse-mean": ((5, 3), lambda v: tf.sparse.segment_mean(v, PLACES, IDS)),
    "sparse-sqrt-n": ((5, 3), lambda v: tf.sparse.segment_sqrt_n(v, PLACES, IDS)),
    "counted": ((5, 3), lambda v: tf.sparse.segment_mean(v, PLACES, IDS, num_segments=8)),
    "way-back": (
        (6, 2),
        lambda v: raw.SparseSegmentMeanGrad(grad=v, indices=PLACES, segment_ids=IDS, output_dim0=5),
    ),
    "sparse-to-dense": ((3,), lambda v: tf.sparse.to_dense(sparse(v), default_value=7.0)),
    "sparse-product": ((4, 2), lambda v: tf.sparse.sparse_dense_matmul(sparse([1.0, 2, 3]), v)),
    "sparse-adjoint": (
        (3,),
        lambda v: tf.sparse.sparse_dense_matmul(
            sparse(v), tf.reshape(tf.range(6.0), (3, 2)), adjoint_a=True
        ),
    ),
    "sparse-both": (
        (2, 4),
        lambda v: tf.sparse.sparse_dense_matmul(sparse([1.0, 2, 3]), v, adjoint_b=True),
    ),
    "sparse-sum-dense": ((3, 4), lambda v: tf.sparse.add(sparse([1.0, 2, 3]), v)),
    "ragged": ((5, 2), lambda v: ragged([[0, 2, 2, 5]])(v).to_tensor(7.0)),
    "ragged-cut-off": ((5,), lambda v: ragged([[0, 2, 2, 5]])(v).to_tensor(shape=[None, 2])),
    "ragged-deep": ((5,), lambda v: ragged([[0, 1, 3], [0, 2, 2, 5]])(v).to_tensor()),
    "ragged-by-rows": (
        (5,),
        lambda v: tf.RaggedTensor.from_value_rowids(v, [0, 0, 2, 2, 2], 4).to_tensor(-1.0),
    ),
}


NOT_SMOOTH = {"way-back"}
"""TensorFlow has no gradient of them."""


def outcome(call: Call, array: np.ndarray, smooth: bool) -> list[np.ndarray]:
    """The result and its gradient."""
    given = tf.Variable(array)
    if not smooth:
        return [call(given * 2.0).numpy()]
    with tf.GradientTape() as tape:
        made = call(given * 2.0)
        total = tf.reduce_sum(made * made)
    return [np.asarray(tf.convert_to_tensor(t)) for t in (made, tape.gradient(total, given))]


@pytest.mark.parametrize("whole", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", CALLS)
def test_parts_are_tensorflows(name: str, whole: bool) -> None:
    shape, call = CALLS[name]
    array, smooth = x(*shape), name not in NOT_SMOOTH
    expected = outcome(call, array, smooth)
    run = tf.function(call) if whole else call
    with lazytensor.tf.enabled():
        before = metrics.counts["fallbacks"]
        found = outcome(run, array, smooth)
        assert metrics.counts["fallbacks"] == before
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_segments_out_of_order_are_refused(recording: None) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="increasing"):
        raw.SegmentSum(data=tf.ones(3) * 2.0, segment_ids=[1, 0, 0]).numpy()
