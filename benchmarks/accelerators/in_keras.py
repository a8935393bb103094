"""A step of a perceptron in Keras on TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.accelerators.sizes import MLP


def step(is_lazy: bool) -> Callable[[], Any]:
    """A step of Adam, lazy or TensorFlow's own."""
    import tensorflow as tf

    if is_lazy:
        import lazytensor.tf

        lazytensor.tf.enable()
    widths = MLP.widths
    layers = [tf.keras.layers.Dense(n, "relu") for n in widths[1:-1]]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(widths[-1])])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x = tf.random.normal((MLP.batch, widths[0]))
    y = tf.zeros((MLP.batch,), tf.int64)

    def once() -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
        return loss.numpy()

    return once
