"""Tensors and arrays pass between frontends without a cut; the same computation is one program."""

import numpy
import tensorflow as tf

import lazytensor
import lazytensor.numpy as np
import lazytensor.tf
from lazytensor import metrics


def test_from_numpy_through_tensorflow_to_numpy_is_one_program() -> None:
    with lazytensor.tf.enabled():
        before = metrics.snapshot()["cuts"]
        x = np.arange(200_000.0) / 3.0
        y = tf.sqrt(tf.convert_to_tensor(x)) * 2.0
        z = np.asarray(y) + x
        assert metrics.snapshot()["cuts"] == before
        expected = numpy.arange(200_000.0) / 3.0
        numpy.testing.assert_allclose(
            numpy.asarray(z), 2.0 * numpy.sqrt(expected) + expected, rtol=1e-12
        )
        assert metrics.snapshot()["cuts"] == before + 1


def test_the_same_computation_is_the_same_program() -> None:
    x = numpy.linspace(0, 1, 100_000)

    def in_numpy() -> object:
        a = np.array(x)
        return np.exp(a) * a - np.sqrt(a)

    def in_tensorflow() -> object:
        a = tf.constant(x)
        return tf.exp(a) * a - tf.sqrt(a)

    first = lazytensor.trace(in_numpy)
    with lazytensor.tf.enabled():
        assert lazytensor.trace(in_tensorflow) == first
