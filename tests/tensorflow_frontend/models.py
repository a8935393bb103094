"""The Keras 3 models that the frontend is measured by, small enough for two cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

layers: Any = tf.keras.layers


class Task(NamedTuple):
    """A model to train: how it is made, a batch, and the loss."""

    make: Callable[[], Any]
    x: np.ndarray
    y: np.ndarray
    loss: str


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _classes(n: int, count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, count, n)


def cnn() -> Any:
    """An MNIST-style network."""
    return tf.keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.25),
            layers.Dense(10),
        ]
    )


def resnet() -> Any:
    """ResNet-50 for small images."""
    return tf.keras.applications.ResNet50(
        weights=None, input_shape=(32, 32, 3), classes=10, classifier_activation=None
    )


def mobilenet() -> Any:
    """MobileNetV2 for small images."""
    return tf.keras.applications.MobileNetV2(
        weights=None, input_shape=(32, 32, 3), classes=10, alpha=0.35, classifier_activation=None
    )


def transformer() -> Any:
    """An encoder of two blocks."""
    ids = layers.Input((16,), dtype="int32")
    x = layers.Embedding(100, 32)(ids)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 8, dropout=0.1)(x, x)
        x = layers.LayerNormalization()(x + attended)
        inner = layers.Dense(64, activation="gelu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(32)(inner))
    return tf.keras.Model(ids, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def lstm() -> Any:
    """One recurrent layer."""
    return tf.keras.Sequential([layers.Input((12, 8)), layers.LSTM(16), layers.Dense(10)])


def bidirectional() -> Any:
    """Both directions, masked."""
    ids = layers.Input((12,), dtype="int32")
    x = layers.Embedding(50, 8, mask_zero=True)(ids)
    x = layers.Bidirectional(layers.LSTM(8))(x)
    return tf.keras.Model(ids, layers.Dense(10)(x))


def unet() -> Any:
    """Two levels down and up."""
    image = layers.Input((32, 32, 3))
    x, skips = image, []
    for width in (8, 16):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    for width in (16, 8):
        x = layers.Conv2DTranspose(width, 3, strides=2, padding="same")(x)
        x = layers.Concatenate()([x, skips.pop()])
        x = layers.BatchNormalization()(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    return tf.keras.Model(image, layers.Conv2D(1, 1)(x))


_CROSS = "sparse_categorical_crossentropy"

TASKS: dict[str, Task] = {
    "cnn": Task(cnn, _random(16, 28, 28, 1), _classes(16, 10), _CROSS),
    "resnet": Task(resnet, _random(4, 32, 32, 3), _classes(4, 10), _CROSS),
    "mobilenet": Task(mobilenet, _random(4, 32, 32, 3), _classes(4, 10), _CROSS),
    "transformer": Task(transformer, _classes(8 * 16, 100).reshape(8, 16), _classes(8, 10), _CROSS),
    "lstm": Task(lstm, _random(8, 12, 8), _classes(8, 10), _CROSS),
    "bidirectional": Task(
        bidirectional, _classes(8 * 12, 50).reshape(8, 12), _classes(8, 10), _CROSS
    ),
    "unet": Task(unet, _random(4, 32, 32, 3), _random(4, 32, 32, 1), "mse"),
}


def loss_of(task: Task) -> Any:
    """The loss as an object of Keras."""
    if task.loss == "mse":
        return tf.keras.losses.MeanSquaredError()
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train(task: Task, steps: int, optimizer: Any = None) -> list[float]:
    """Losses of a training loop with a tape, a step a batch."""
    tf.keras.utils.set_random_seed(0)
    model = task.make()
    optimizer = tf.keras.optimizers.Adam(1e-3) if optimizer is None else optimizer()
    measure = loss_of(task)
    x, y = tf.constant(task.x), tf.constant(task.y)
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = measure(y, model(x, training=True))
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
        losses.append(loss)
    return [float(loss) for loss in losses]


def fit(task: Task, steps: int, **options: Any) -> list[float]:
    """Losses of `model.fit`, an epoch a batch."""
    tf.keras.utils.set_random_seed(0)
    model = task.make()
    model.compile("adam", loss_of(task), **options)
    history = model.fit(
        task.x, task.y, batch_size=len(task.x), epochs=steps, verbose=0, shuffle=False
    )
    return [float(loss) for loss in history.history["loss"]]
