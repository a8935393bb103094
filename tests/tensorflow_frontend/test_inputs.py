"""What raw ops may be called with besides tensors: numbers, variables, values of the host's."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lazytensor.core.settings import settings
from lazytensor.frontends.tf.tensors.tensor import LazyTensor

pytestmark = pytest.mark.usefixtures("no_fallbacks")


@pytest.mark.parametrize("of", [tf.Variable, lambda x: tf.keras.Variable(x)], ids=["tf", "keras"])
def test_a_variable_that_is_an_input_is_read_and_watched(of: Any) -> None:
    v, x = of([2.0, 3.0]), tf.constant([5.0, 7.0])
    with tf.GradientTape() as tape:
        y = tf.raw_ops.Mul(x=x * 1.0, y=v)
    plain = getattr(v, "value", v) if of is not tf.Variable else v
    assert type(y) is LazyTensor
    assert [w is plain for w in tape.watched_variables()] == [True]
    np.testing.assert_array_equal(tape.gradient(y, plain), [5.0, 7.0])


def test_a_variable_that_is_not_trainable_is_not_watched() -> None:
    v = tf.Variable([2.0], trainable=False)
    with tf.GradientTape() as tape:
        tf.raw_ops.Neg(x=v)
    assert not tape.watched_variables()


def test_a_number_is_of_the_other_inputs_dtype() -> None:
    x = tf.constant([1.0, -1.0]) * 1.0
    for one in (1, 1.0, 1):
        np.testing.assert_array_equal(tf.raw_ops.Mul(x=x, y=one), [1.0, -1.0])
    with pytest.raises((TypeError, ValueError)):
        tf.raw_ops.Mul(x=tf.constant([1, 2]), y=1.0)


def test_shapes_of_the_hosts_give_the_same_as_tensorflow() -> None:
    n = tf.constant([2, 3])
    for _ in range(2):  # the second time it is looked up
        assert tf.raw_ops.Less(x=n, y=3).numpy().tolist() == [True, False]
        assert tf.raw_ops.Cast(x=n, DstT=tf.int64).dtype == tf.int64
        assert tf.raw_ops.Cast(x=n, DstT=tf.float32).dtype == tf.float32
        assert (
            tf.raw_ops.StridedSlice(
                input=n, begin=[1], end=[2], strides=[1], shrink_axis_mask=1
            ).numpy()
            == 3
        )


REFUSED: dict[str, Callable[[Any], Any]] = {
    "fill": lambda x: tf.fill([-1], x[0, 0]),
    "zeros": lambda x: tf.zeros([2, -1]),
    "tile": lambda x: tf.tile(x, [-1, 1]),
    "repeat": lambda x: tf.repeat(x, -1),
    "one_hot": lambda x: tf.one_hot([1], -1),
    "eye": lambda x: tf.eye(-1),
    "gather": lambda x: tf.gather(x, [0], axis=4),
    "transpose": lambda x: tf.transpose(x, [0, -5]),
    "an axis reversed twice": lambda x: tf.reverse(x, [0, -2]),
    "an axis summed twice": lambda x: tf.reduce_sum(x, [0, 0]),
    "band_part": lambda x: tf.linalg.band_part(x, 9, 0),
    "two ellipses": lambda x: x[None, ..., ..., 1],
    "no step": lambda x: x[::0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_and_axes_that_are_not_there_are_refused(name: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        REFUSED[name](tf.ones([3, 4]) * 2.0)


def test_recording_leaves_no_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its memory would be there until the next collection."""
    monkeypatch.setattr(settings, "tier", "interpret")  # compiling leaves some of jax's

    def work() -> None:
        x = tf.ones((4, 6)) * 2.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.reshape(tf.transpose(x)[1:3], (-1,)), axis=0) + tf.reduce_mean(x)
        tape.gradient(y, x).numpy()

    work()
    while gc.collect():  # what other tests have left frees more, as dynamo's graphs do
        pass
    gc.disable()
    try:
        work()
        assert gc.collect() == 0
    finally:
        gc.enable()
