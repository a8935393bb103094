"""What TensorFlow's kernels refuse for its values is refused, at the user's line or at the cut."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lazytensor import metrics, settings

X = np.arange(10.0, dtype=np.float32).reshape(5, 2)
REFUSED: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "gather": (lambda i: tf.gather(X, i), [0, 4], [0, 5]),
    "a negative index": (lambda i: tf.gather(X, i), [0, 4], [-1, 0]),
    "gather along an axis": (lambda i: tf.gather(X, i, axis=1), [1], [2]),
    "gather_nd": (lambda i: tf.gather_nd(X, i), [[4, 1]], [[1, 2]]),
    "scatter_nd": (lambda i: tf.scatter_nd(i, X[:1], [5, 2]), [[4]], [[5]]),
    "scatter into": (lambda i: tf.tensor_scatter_nd_add(X, i, X[:1]), [[4]], [[5]]),
    "segments": (lambda i: tf.math.unsorted_segment_sum(X[:2], i, 3), [2, -1], [3, 0]),
    "a class": (
        lambda i: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=X),
        [1] * 5,
        [2] * 5,
    ),
    "floor division": (lambda i: tf.range(40, 80) // i, 3, 0),
    "remainders": (lambda i: tf.range(40, 80) % i, 3, 0),
    "powers": (lambda i: tf.range(40, 80) ** i, 2, -1),
    "powers of other dtypes": (lambda i: tf.ones([40], tf.int8) ** tf.cast(i, tf.int8), 127, -128),
    "a division by zeros": (lambda i: tf.ones([40], tf.int32) // i, [1] * 40, [1] * 39 + [0]),
}  # fmt: skip


def outcome(function: Callable[[Any], Any], given: Any) -> Any:
    try:
        return function(given).numpy()
    except tf.errors.InvalidArgumentError:
        return "refused"


@pytest.mark.parametrize("way", ["known", "computed", "in a function"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_kernels_refuse_is_refused(name: str, way: str, no_fallbacks: None) -> None:
    function, fine, bad = REFUSED[name]
    inside = tf.function(function)
    for given, refused in ((fine, False), (bad, True)):
        array = np.array(given, np.int32)
        if way == "known":
            found = outcome(function, tf.constant(array))
        else:
            # One that no host has looked at yet.
            position = tf.cast(tf.constant(array, tf.float32) + 0.0, tf.int32)
            found = outcome(function if way == "computed" else inside, position)
        assert (type(found) is str) == refused, found


@pytest.mark.parametrize("way", ["known", "computed"])
def test_what_is_raised_is_tensorflows_own(way: str, recording: None) -> None:
    """Keras and pickle make an error again from what its class takes."""
    position = tf.constant([7]) if way == "known" else tf.cast(tf.constant([7.0]) + 0.0, tf.int32)
    layer = tf.keras.layers.Lambda(lambda i: tf.gather(tf.constant(X), i).numpy())
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices") as refused:
        tf.gather(tf.constant(X), position).numpy()
    assert refused.type is tf.errors.InvalidArgumentError
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Lambda.*indices"):
        layer(position)


@pytest.mark.parametrize("place", [9, -1, [9], [[0, -2]]])
def test_a_place_in_a_variable_is_refused(place: Any, recording: None) -> None:
    v = tf.Variable(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices.* is not in"):
        tf.gather(v, place)


def test_a_variable_is_as_before_when_a_function_was_refused(recording: None) -> None:
    weights = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def step(i: Any) -> Any:
        chosen = tf.gather(weights, tf.cast(i, tf.int32))
        weights.assign_sub(0.5 * weights)
        return chosen

    step(tf.constant(1.0) + 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_checks\.py"):
        step(tf.constant(1.0) + 6.0).numpy()
    np.testing.assert_array_equal(weights.numpy(), [0.5, 1.0, 1.5])


def test_a_step_made_again_and_again_is_refused_all_the_same(
    recording: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    weights = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def step(i: Any) -> Any:
        chosen = tf.gather(weights, tf.cast(i, tf.int32))
        weights.assign_add(tf.ones([3]) * chosen)
        return chosen

    expected = np.array([1.0, 2.0, 3.0])
    for i in (0, 1, 2, 7, 0, -1, 1, 1):
        position = tf.constant(float(i))
        if 0 <= i < 3:
            assert float(step(position)) == expected[i]
            expected += expected[i]
        else:
            with pytest.raises(tf.errors.InvalidArgumentError):
                step(position)
        if i:  # a read that is still pending when the next step is made
            assert float(tf.reduce_sum(weights + 1.0)) == expected.sum() + 3
    np.testing.assert_array_equal(weights.numpy(), expected)


def test_a_branch_that_is_not_taken_demands_nothing(no_fallbacks: None) -> None:
    row = tf.constant([1.0, 2.0, 3.0])

    @tf.function
    def at(i: Any) -> Any:
        return tf.cond(i < 3, lambda: tf.gather(row, i), lambda: tf.constant(-1.0))

    for i, expected in ((2.0, 3.0), (7.0, -1.0)):
        assert float(at(tf.cast(tf.constant(i) + 0.0, tf.int32))) == expected


def test_what_a_function_asserts_is_checked(recording: None) -> None:
    @tf.function
    def root(x: Any) -> Any:
        tf.debugging.assert_non_negative(x, "no root")
        return tf.sqrt(x)

    np.testing.assert_array_equal(root(tf.constant([4.0, 1.0]) * 1.0), [2.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="no root"):
        root(tf.constant([4.0, -1.0]) * 1.0).numpy()


def test_known_positions_add_nothing_to_a_program(no_fallbacks: None) -> None:
    metrics.reset()
    made = tf.gather(tf.constant(X) * 2.0, tf.constant([1, 3, 4]))
    np.testing.assert_array_equal(made.numpy(), 2 * X[[1, 3, 4]])
    from lazytensor.api import programs

    assert not programs()[0].guards


def beside(x: Any, v: Any) -> Any:
    tf.debugging.check_numerics(x, "x")
    return tf.ones([2]) * 2.0


def alone(x: Any, v: Any) -> None:
    tf.debugging.check_numerics(x, "x")


def asserted(x: Any, v: Any) -> None:
    tf.debugging.assert_less(x, 9.0)


def assigned(x: Any, v: Any) -> None:
    v.assign(tf.debugging.check_numerics(x, "x"))


def placed(x: Any, v: Any) -> None:
    v.scatter_nd_update([[tf.cast(tf.minimum(x[0], 9.0), tf.int32)]], [5.0])


@pytest.mark.parametrize("tier", ["compile", "interpret"])
@pytest.mark.parametrize("body", [beside, alone, asserted, assigned, placed])
def test_a_function_demands_what_no_result_depends_on(
    body: Callable[[Any, Any], Any], tier: str, recording: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    v = tf.Variable([1.0, 2.0])
    function = tf.function(body)

    def call(x: float) -> None:
        made = function(tf.constant([x, x]) + 0.0, v)
        if made is not None:
            made.numpy()

    for x in (1.0, np.inf, 1.0, np.inf):
        before = v.numpy()
        if x == 1.0:
            call(x)
            continue
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(x)
        np.testing.assert_array_equal(v.numpy(), before)


def test_numerics_are_checked_where_nobody_needs_the_result(recording: None) -> None:
    x = tf.constant([1.0, 2.0]) * 2.0
    np.testing.assert_array_equal(tf.debugging.check_numerics(x, "fine"), [2.0, 4.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not fine"):
        tf.debugging.check_numerics(x / 0.0, "not fine")
    with pytest.raises(tf.errors.InvalidArgumentError, match="not fine"):
        tf.debugging.assert_all_finite(x / 0.0, "not fine")
