"""TensorFlow programs on a mesh: the losses of one device, one exchange a step."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import lazytensor
import lazytensor.tf
from lazytensor import Mesh
from lazytensor.core.runtime.program_cache import cache
from lazytensor.sharding import sharding_of

DATA = Mesh((8,), ("data",))


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "disk", False)
    cache.clear()


def losses(mesh: Mesh | None) -> tuple[list[float], Any]:
    """Of a Keras model's training, and the model."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)]
    net, found = keras.Sequential([keras.Input((32,)), *layers]), []
    optimizer, draw = keras.optimizers.Adam(0.01), np.random.default_rng(0)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for _ in range(4):
        x = tf.constant(draw.standard_normal((64, 32), np.float32))
        labels = tf.constant(draw.integers(0, 10, 64))
        if mesh is not None:
            x, labels = (lazytensor.tf.shard(t, mesh, ("data",)) for t in (x, labels))
        with tf.GradientTape() as tape:
            loss = loss_of(labels, net(x, training=True))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        found.append(float(loss))
    return found, net


def test_training_gives_the_losses_of_one_device() -> None:
    with lazytensor.tf.enabled():
        expected, net = losses(None)
        found, net = losses(DATA)
        np.testing.assert_allclose(found, expected, rtol=2e-5)
        nbytes = 4 * sum(np.prod(v.shape) for v in net.trainable_variables)
        exchanges = next(p for p in lazytensor.programs(50) if p.meshes).collectives()
        assert {exchange.kind for exchange in exchanges} == {"all-reduce"}
        assert nbytes <= sum(exchange.nbytes for exchange in exchanges) <= nbytes + 64


def test_a_tensor_is_split() -> None:
    with lazytensor.tf.enabled():
        x = lazytensor.tf.shard(tf.reshape(tf.range(64.0), (16, 4)), DATA, ("data",))
        y = x * 2.0
        np.testing.assert_array_equal(y.numpy(), 2 * np.arange(64.0).reshape(16, 4))
        found = sharding_of(y)
        assert found is not None
        assert found.spec == (("data",), ())


def test_a_thread_that_does_not_record_is_told_so() -> None:
    with pytest.raises(RuntimeError, match="this thread does not record"):
        lazytensor.tf.shard(tf.ones(8), DATA, ("data",))


def test_a_variable_is_split_in_place() -> None:
    with lazytensor.tf.enabled():
        variable = tf.Variable(tf.ones((16, 4)))
        assert lazytensor.sharding.mark_sharding(variable, DATA, ("data",)) is variable
        variable.assign_add(tf.ones((16, 4)))
        found = sharding_of(variable)
        assert found is not None
        assert found.spec == (("data",), ())
        np.testing.assert_array_equal(variable.numpy(), 2)
        with pytest.raises(ValueError, match="mark_sharding: it is read-only"):
            lazytensor.sharding.mark_sharding(tf.ones(8) * 2, DATA, ("data",))


def test_one_device_that_is_not_the_first() -> None:
    there = Mesh((1,), ("device",), (1,))
    with lazytensor.tf.enabled():
        x = lazytensor.tf.shard(tf.ones((3, 4)), there)
        variable = lazytensor.sharding.mark_sharding(tf.Variable(tf.ones((3, 4))), there)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * x * 2)
        variable.assign_sub(tape.gradient(loss, variable))
        np.testing.assert_array_equal(variable.numpy(), -np.ones((3, 4)))
        for value in (x * 2, variable):
            found = sharding_of(value)
            assert found is not None
            assert found.mesh == there
