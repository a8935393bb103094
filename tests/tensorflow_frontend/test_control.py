"""Loops and branches on data inside functions: no cut, and what TensorFlow gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics
from lazytensor.api import programs
from lazytensor.core.settings import settings


def newton(x: Any) -> Any:
    """As many rounds as the data asks for."""
    guess, rounds = x, 0
    while tf.reduce_max(tf.abs(guess * guess - x)) > 1e-6:
        guess, rounds = 0.5 * (guess + x / guess), rounds + 1
    return guess, rounds


def captured(x: Any) -> Any:
    """A body that uses what is outside: a matrix, and a table it takes a row from."""
    matrix, table = tf.linalg.diag(x), tf.constant(np.arange(9.0).reshape(3, 3))
    i, total = tf.constant(0), tf.zeros_like(x)
    while tf.reduce_sum(total) < 40.0:
        total += tf.linalg.matvec(matrix, tf.gather(table, i % 3))
        i += 1
    return total, i


def nested(x: Any) -> Any:
    total = tf.reduce_sum(x)
    while total < 100.0:
        small = total
        while small > 1.0:
            small = small / 3.0
        total = total * 2.0 + small
    return total


def chosen(x: Any) -> Any:
    """Branches long enough not to be both computed."""
    if tf.reduce_sum(x) > 3.0:
        y = x
        for _ in range(20):
            y = 0.5 * y + x
    else:
        y = -x
    return y


def switched(x: Any) -> Any:
    at = tf.cast(tf.reduce_sum(x), tf.int32)
    return tf.switch_case(at, [lambda: x, lambda: -x, lambda: 2.0 * x])


def counted(x: Any) -> Any:
    """A known number of rounds, too many to be part of the program one by one."""
    for _ in tf.range(200):
        x = 0.99 * x + 0.1
    return x


CASES: dict[Callable[[Any], Any], list[list[float]]] = {
    newton: [[2.0, 9.0], [0.3, 1.0]],
    captured: [[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]],
    nested: [[1.0, 2.0], [30.0, 1.0]],
    chosen: [[2.0, 3.0], [0.5, 0.5]],
    switched: [[0.0, 0.5], [1.0, 0.5], [4.0, 5.0]],
    counted: [[1.0, 2.0]],
}


@pytest.mark.parametrize("tier", ["compile", "interpret"])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_control_flow_on_data_is_part_of_the_program(
    function: Callable[[Any], Any], tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    monkeypatch.setattr(settings, "disk", False)
    whole = tf.function(function)
    given = [np.array(values) for values in CASES[function]]
    expected = [tf.nest.flatten(whole(tf.constant(x))) for x in given]
    with lazytensor.tf.enabled():
        for x, right in zip(given, expected, strict=True):
            x = tf.constant(x) * 1.0
            before = dict(metrics.counts)
            found = tf.nest.flatten(whole(x))
            assert metrics.counts["cuts"] == before.get("cuts", 0)
            for mine, theirs in zip(found, right, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-12)
            assert metrics.counts["fallbacks"] == before.get("fallbacks", 0)
            assert metrics.counts["cuts"] - before.get("cuts", 0) <= 1


def test_equal_loops_are_one_program(recording: None) -> None:
    whole = tf.function(newton)
    whole(tf.constant([2.0]) * 1.0)[0].numpy()
    before = len(programs(10_000))
    whole(tf.constant([3.0]) * 1.0)[0].numpy()
    assert len(programs(10_000)) == before


def test_what_a_loops_body_demands_is_checked(recording: None) -> None:
    row = tf.constant([1.0, 2.0, 3.0])

    @tf.function
    def last(n: Any) -> Any:
        i, value = tf.constant(0), tf.constant(0.0)
        while i < n:
            value = tf.gather(row, i)
            i += 1
        return value

    assert float(last(tf.cast(tf.constant(3.0) * 1.0, tf.int32))) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        last(tf.cast(tf.constant(4.0) * 1.0, tf.int32)).numpy()


def test_a_loop_that_changes_shapes_is_walked(recording: None) -> None:
    @tf.function
    def grown(x: Any) -> Any:
        return tf.while_loop(
            lambda x: tf.reduce_sum(x) < 10.0,
            lambda x: [tf.concat([x, x], 0)],
            [x],
            shape_invariants=[tf.TensorShape([None])],
        )[0]

    assert grown(tf.constant([1.0, 2.0]) * 1.0).shape == (8,)


def test_each_round_has_the_next_batch(recording: None) -> None:
    """An optional is no data: a body that takes one is not remembered by it."""
    batches = iter(tf.data.Dataset.range(1000, output_type=tf.float32))

    def added(total: Any, batch: Any) -> Any:
        return tf.cond(batch.has_value(), lambda: total + batch.get_value(), lambda: total)

    @tf.function
    def summed() -> Any:
        _, total, _ = tf.while_loop(
            lambda i, total, batch: i < 20,
            lambda i, total, batch: (i + 1, added(total, batch), batches.get_next_as_optional()),
            (0, 0.0, batches.get_next_as_optional()),
        )
        return total

    found = [float(summed()) for _ in range(10)]
    assert found == [sum(range(21 * i, 21 * i + 20)) for i in range(10)]


def test_a_loop_that_keeps_its_arguments_for_a_tape(recording: None) -> None:
    """The argument itself is in a list that is a result; steps end while that list is there."""
    w, calls = tf.Variable([[0.5, 0.2], [0.1, 0.4]]), tf.Variable(0)

    @tf.function
    def layer(x: Any) -> Any:
        calls.assign_add(1)
        return tf.tanh(x @ w)

    @tf.function
    def deep(x: Any) -> Any:
        for _ in tf.range(3):
            x = layer(x)
        return x

    def slope() -> Any:
        x = tf.constant([[1.0, 2.0]]) * 1.0
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(deep(x))
        return tape.gradient(y, w).numpy()

    made = [slope() for _ in range(3)]
    assert int(calls) == 9
    lazytensor.tf.disable()
    try:
        expected = slope()
    finally:
        lazytensor.tf.enable()
    np.testing.assert_allclose(made, [expected] * 3, rtol=1e-6)
