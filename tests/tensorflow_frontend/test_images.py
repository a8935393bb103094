"""Images resized and warped: values and gradients, eagerly and in functions."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics
from lazytensor.core.lib.filters import FILTERS
from lazytensor.frontends.tf.rows.warping import PADDED
from tests.tensorflow_frontend.samples import x

Call = Any
raw = tf.raw_ops
IMAGES = x(2, 5, 7, 3)
TRANSFORMS = np.array(
    [[0.8, 0.3, -1.3, -0.2, 1.1, 0.7, 0.01, 0.02], [1.0, 0.0, 9.0, 0.0, 1.0, -11.0, 0.0, 0.0]],
    np.float32,
)


def scaled(kernel: str, antialias: bool) -> Call:
    return lambda images: raw.ScaleAndTranslate(
        images=images, size=[8, 4], scale=[1.6, 0.5], translation=[0.3, -0.2],
        kernel_type=kernel, antialias=antialias,
    )  # fmt: skip


def bicubic(corners: bool, centred: bool) -> Call:
    return lambda images: raw.ResizeBicubic(
        images=images, size=[9, 4], align_corners=corners, half_pixel_centers=centred
    )


def warped(interpolation: str, mode: str) -> Call:
    return lambda images: raw.ImageProjectiveTransformV3(
        images=images, transforms=TRANSFORMS, output_shape=[6, 8], fill_value=0.5,
        interpolation=interpolation, fill_mode=mode,
    )  # fmt: skip


CALLS: dict[str, Call] = {
    **{f"{k}-{a}": scaled(k, a) for k, a in product(FILTERS, (False, True))},
    **{
        f"bicubic-{c}-{h}": bicubic(c, h) for c, h in [(False, False), (True, False), (False, True)]
    },
    **{f"{i}-{m}": warped(i, m) for i, m in product(["NEAREST", "BILINEAR"], PADDED)},
    "resize": lambda images: tf.image.resize(images, (3, 9), "lanczos5", antialias=True),
}


def outcome(call: Call, array: np.ndarray) -> list[np.ndarray]:
    """The result and its gradient."""
    given = tf.Variable(array)
    with tf.GradientTape() as tape:
        made = call(given * 2.0)
        total = tf.reduce_sum(made * made)
    return [made.numpy(), tape.gradient(total, given).numpy()]


@pytest.mark.parametrize("whole", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", CALLS)
def test_images_are_tensorflows(name: str, whole: bool) -> None:
    call = CALLS[name]
    expected = outcome(call, IMAGES)
    run = tf.function(call) if whole else call
    with lazytensor.tf.enabled():
        before = metrics.counts["fallbacks"]
        found = outcome(run, IMAGES)
        assert metrics.counts["fallbacks"] == before
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-5)


def test_whole_numbers_of_the_hosts_are_resized(recording: None) -> None:
    images = np.arange(48).reshape(1, 4, 4, 3).astype(np.uint8)
    assert tf.image.resize(images, (2, 2), "lanczos3").dtype == tf.float32
    assert tf.image.resize(tf.identity(tf.constant(images)), (2, 2), "bicubic").shape == (
        1,
        2,
        2,
        3,
    )


@pytest.mark.parametrize("dtype", [tf.uint8, tf.int32, tf.float16, tf.bfloat16, tf.float64])
def test_other_dtypes_are_warped_as_well(dtype: Any) -> None:
    images = tf.cast(IMAGES * 50, dtype)
    for interpolation in ("NEAREST", "BILINEAR"):
        expected = warped(interpolation, "REFLECT")(images)
        with lazytensor.tf.enabled():
            found = warped(interpolation, "REFLECT")(tf.identity(images))
        assert found.dtype == dtype
        near = 0 if dtype.is_integer else 0.3 if dtype == tf.bfloat16 else 0.05
        np.testing.assert_allclose(
            found.numpy().astype(float), expected.numpy().astype(float), rtol=0, atol=near
        )
