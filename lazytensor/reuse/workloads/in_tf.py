"""The workloads in TensorFlow's idiom."""

from __future__ import annotations

from math import sqrt
from typing import Any

import tensorflow as tf

from lazytensor.reuse.workloads import HEADS, LEARNING_RATE, STEPS, SWEEPS, Data


def mlp(data: Data) -> Any:
    x, target = tf.constant(data["x"]), tf.constant(data["target"])
    weights = [tf.Variable(data[name]) for name in ("w1", "b1", "w2", "b2")]
    losses = [float(_step(x, target, *weights)) for _ in range(STEPS)]
    return losses, *weights


def _step(x: Any, target: Any, *weights: Any) -> Any:
    w1, b1, w2, b2 = weights
    with tf.GradientTape() as tape:
        hidden = tf.tanh(tf.matmul(x, w1, transpose_b=True) + b1)
        made = tf.matmul(hidden, w2, transpose_b=True) + b2
        loss = tf.reduce_mean(tf.square(made - target))
    for weight, slope in zip(weights, tape.gradient(loss, weights), strict=True):
        weight.assign_sub(LEARNING_RATE * slope)
    return loss


def convolution(data: Data) -> Any:
    x, weight, bias = (tf.constant(data[name]) for name in ("x", "weight", "bias"))
    kernel = tf.transpose(weight, (2, 3, 1, 0))
    made = tf.nn.conv2d(x, kernel, strides=1, padding="SAME", data_format="NCHW")
    made = tf.nn.relu(tf.nn.bias_add(made, bias, data_format="NCHW"))
    return tf.reduce_mean(made, axis=(2, 3))


def attention(data: Data) -> Any:
    x, query, key, value, out = (
        tf.constant(data[name]) for name in ("x", "query", "key", "value", "out")
    )
    batch, length, width = x.shape

    def heads(weight: Any) -> Any:
        made = tf.reshape(tf.matmul(x, weight, transpose_b=True), (batch, length, HEADS, -1))
        return tf.transpose(made, (0, 2, 1, 3))

    scores = tf.matmul(heads(query), heads(key), transpose_b=True) / sqrt(width // HEADS)
    mixed = tf.transpose(tf.nn.softmax(scores) @ heads(value), (0, 2, 1, 3))
    return x + tf.matmul(tf.reshape(mixed, (batch, length, width)), out, transpose_b=True)


def kmeans(data: Data) -> Any:
    points, centres = tf.constant(data["points"]), tf.constant(data["centres"])
    for _ in range(STEPS):
        distances = tf.reduce_sum(tf.square(points[:, None] - centres), axis=-1)
        nearest = tf.argmin(distances, axis=1)
        members = tf.one_hot(nearest, len(centres))
        sums = tf.matmul(members, points, transpose_a=True)
        centres = sums / tf.maximum(tf.reduce_sum(members, axis=0), 1)[:, None]
    return centres


def stencil(data: Data) -> Any:
    grid = tf.Variable(data["grid"])
    for _ in range(SWEEPS):
        grid[1:-1, 1:-1].assign(
            0.25 * (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:])
        )
    return grid
