"""Every raw op of the table against TensorFlow's kernel: values, dtypes, shapes, gradients."""

import inspect
from itertools import groupby
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics
from lazytensor.core.settings import settings
from lazytensor.frontends.tf.dispatch import bridge
from lazytensor.frontends.tf.dispatch.recording import Row
from lazytensor.frontends.tf.dispatch.table import HANDLERS
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import LazyTensor
from tests.sweeps import WHOLE
from tests.tensorflow_frontend import bridge_samples, samples
from tests.tensorflow_frontend.samples import Sample

SAMPLES = samples.SAMPLES + bridge_samples.SAMPLES
BY_OP = {
    op: list(group) for op, group in groupby(sorted(SAMPLES, key=lambda s: s.op), lambda s: s.op)
}
BRIDGED = [op for text in bridge.ROWS.values() for op in text.split()]
QUICK = ("PopulationCount", "RGBToHSV", "Cross", "ReverseSequence")
"""XLA compiles these in no time; the others in seconds each, in the nightly run."""
UNIQUE = {"Qr", "Svd", "SelfAdjointEigV2"}
"""Results are unique up to signs: tested by what they multiply to."""
COMPILED = {
    "SegmentSumV2", "SegmentProdV2", "SegmentMaxV2", "SegmentMinV2", "XlaSplitND", "XlaConcatND",
}  # fmt: skip
"""TensorFlow has no kernels of them, only its compiler knows them."""
INDIRECT = {
    "MaxPoolGrad", "MaxPool3DGrad", "AvgPoolGrad", "AvgPool3DGrad", "FusedBatchNormGradV3",
    "MaxPoolGradWithArgmax", "ScaleAndTranslate", "ScaleAndTranslateGrad", "ResizeBicubic",
    "ResizeBicubicGrad",
}  # fmt: skip
"""Tested as the gradients of others, or in `test_images.py`."""


def test_every_row_has_a_sample() -> None:
    rows = {name for name, handler in HANDLERS.items() if isinstance(handler, Row)}
    wrapped = {"ZerosLike", "AddN", "Identity"}  # they take lists too
    assert rows | wrapped == set(BY_OP) | UNIQUE | INDIRECT


def _tensors(sample: Sample) -> list[Any]:
    if sample.op.startswith("Stateless"):  # a seed that the host has is TensorFlow's to draw with
        first = 0 if len(sample.inputs) == 1 else 1
        seeds = [
            tf.Variable(x).value() if x.ndim == 1 else tf.constant(x) for x in sample.inputs[first:]
        ]
        return [*map(tf.constant, sample.inputs[:first]), *seeds]
    return [
        [tf.constant(item) for item in given] if isinstance(given, list) else tf.constant(given)
        for given in sample.inputs
    ]


def _results(sample: Sample, inputs: list[Any]) -> list[Any]:
    function = getattr(tf.raw_ops, sample.op)
    named = dict(zip(inspect.signature(function).parameters, inputs, strict=False))
    if sample.op in COMPILED and not state.on:
        raw = function
        function = tf.function(lambda **given: raw(**given), jit_compile=True)
        named = {name: _constant(value) for name, value in named.items()}
    return tf.nest.flatten(function(**named, **sample.attrs))


def _constant(value: Any) -> Any:
    """XLA wants sizes to be known."""
    known = not isinstance(value, list) and value.dtype == tf.int32 and not value.ndim
    return int(value) if known else value


def _outcome(sample: Sample) -> tuple[list[Any], list[Any]]:
    inputs = _tensors(sample)
    sources = [t for t in tf.nest.flatten(inputs) if t.dtype.is_floating or t.dtype.is_complex]
    if not sample.gradient or not sources:
        return _results(sample, inputs), []
    with tf.GradientTape() as tape:
        tape.watch(sources)
        made = _results(sample, inputs)
        smooth = [y for y in made if y.dtype.is_floating or y.dtype.is_complex]
        total = [tf.reduce_sum(y * tf.cast(1.5, y.dtype)) for y in smooth]
    try:
        return made, tape.gradient(total, sources) if total else []
    except LookupError:  # TensorFlow has no gradient of it
        return made, []


def _compare(sample: Sample, mine: list[Any], theirs: list[Any]) -> None:
    assert len(mine) == len(theirs)
    for x, y in zip(mine, theirs, strict=True):
        assert (x is None) == (y is None), sample
        if y is None:
            continue
        x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape), sample
        wide = np.complex128 if y.dtype.is_complex else np.float64
        first, second = (np.asarray(t.numpy()).astype(wide) for t in (x, y))
        size = np.abs(second[np.isfinite(second)]).max(initial=1.0)
        np.testing.assert_allclose(first, second, rtol=0, atol=sample.near * size)


@pytest.mark.parametrize("op", BY_OP)
def test_a_raw_op_is_tensorflows(op: str) -> None:
    for sample in BY_OP[op]:
        expected, slopes = _outcome(sample)
        with lazytensor.tf.enabled():
            before = metrics.counts["fallbacks"]
            found, mine = _outcome(sample)
            whole = all(t.dtype.is_integer or t.dtype.is_bool for t in expected)
            assert whole or any(type(t) is LazyTensor for t in found), sample
            assert metrics.counts["fallbacks"] == before, sample
            # The first five are results; what they are kept for in the backward differs by kernel.
            few = slice(None, 3 if op == "FusedBatchNormV3" else None)
            _compare(sample, found[few], expected[few])
            _compare(sample, mine, slopes)


@pytest.mark.parametrize("op", [op for op in BRIDGED if WHOLE or op in QUICK])
def test_what_the_bridge_writes_is_tensorflows(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the interpreter has TensorFlow's kernel compute it."""
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)
    test_a_raw_op_is_tensorflows(op)


def test_decompositions_multiply_to_what_they_are_of() -> None:
    a = np.random.default_rng(0).normal(size=(2, 4, 3))
    with lazytensor.tf.enabled():
        before = metrics.counts["fallbacks"]
        given = tf.constant(a)
        q, r = tf.linalg.qr(given)
        s, u, v = tf.linalg.svd(given)
        symmetric = given[:, :3] + tf.linalg.matrix_transpose(given[:, :3])
        values, vectors = tf.linalg.eigh(symmetric)
        np.testing.assert_allclose(q @ r, a, atol=1e-10)
        np.testing.assert_allclose(
            u @ tf.linalg.diag(s) @ tf.linalg.matrix_transpose(v), a, atol=1e-10
        )
        np.testing.assert_allclose(symmetric @ vectors, vectors * values[:, None, :], atol=1e-10)
        assert metrics.counts["fallbacks"] == before


def test_a_matrix_without_an_inverse_is_refused_when_looked_at() -> None:
    with lazytensor.tf.enabled():
        made = tf.linalg.inv(tf.constant([[1.0, 2.0], [2.0, 4.0]]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            made.numpy()
