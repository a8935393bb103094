"""A function that is called again: with what is other than the last time, as with what is not."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Thread
from typing import Any
from weakref import ref

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor.core.settings import settings

COUNT = 3
Calls = Callable[[], list[Any]]


def _called(step: Any, *batches: Any) -> list[Any]:
    return [step(tf.constant(batch)).numpy() for batch in batches]


def other_data() -> list[Any]:
    v = tf.Variable(tf.zeros(4))

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return tf.reduce_sum(v * x)

    return [*_called(step, *np.arange(20.0, dtype="f4").reshape(5, 4)), v.numpy()]


def other_variables() -> list[Any]:
    held = [tf.Variable(float(i) * tf.ones(4)) for i in range(COUNT)]

    @tf.function
    def step(a: Any, b: Any, x: Any) -> Any:
        a.assign(a * x + b)
        b.assign_add(a)
        return tf.reduce_sum(a)

    made = []
    for i in (0, 1, 1, 2, 2, 0):
        a, b = held[i], held[(i + 1) % COUNT]
        made.append(step(a, b, tf.constant(2.0)).numpy())
    return made + [v.numpy() for v in held]


def one_variable_twice() -> list[Any]:
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    @tf.function
    def step(x: Any, y: Any) -> Any:
        x.assign_add(y * 2.0)
        return y + 0.0

    return [step(*pair).numpy() for pair in [(a, b), (a, a), (a, a), (b, a), (a, b), (a, b)]]


def what_tensorflow_assigned() -> list[Any]:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return v + 0.0

    made = []
    for i in range(6):
        made.append(step(tf.ones(2)).numpy())
        if i % 2:  # in a thread that does not record: the variable has no cell then
            thread = Thread(target=v.assign, args=([float(i), 0.0],))
            thread.start()
            thread.join()
    return made


def other_shapes() -> list[Any]:
    v = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def step(x: Any) -> Any:
        v.assign_add(tf.reduce_sum(x))
        return v + 1.0

    return _called(step, *(np.ones(n, "f4") for n in (3, 3, 3, 2, 3, 2, 2, 2)))


def other_numbers_that_name_it() -> list[Any]:
    v = tf.Variable(tf.zeros(6))

    @tf.function
    def step(n: Any) -> Any:
        v.assign_add(tf.ones(6))
        return tf.reduce_sum(tf.reshape(v, tf.stack([n, -1])), axis=0)

    return [step(tf.constant(n)).numpy() for n in (2, 2, 2, 3, 3, 2, 6, 6, 6)]


CASES = [
    other_data, other_variables, one_variable_twice, what_tensorflow_assigned, other_shapes,
    other_numbers_that_name_it,
]  # fmt: skip


@pytest.mark.parametrize("tier", ["compile", "auto"])
@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_every_call_is_tensorflows(case: Calls, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    expected = case()
    with lazytensor.tf.enabled():
        found = case()
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_no_variable_is_kept_by_a_function_that_it_was_given_to(recording: None) -> None:
    @tf.function
    def step(v: Any, x: Any) -> Any:
        v.assign_add(x)
        return tf.reduce_sum(v)

    def trained() -> Any:
        v = tf.Variable(tf.ones(8))
        for _ in range(COUNT):
            step(v, tf.ones(8))
        return ref(v.handle)

    handles = [trained() for _ in range(COUNT)]
    gc.collect()
    assert [handle() for handle in handles[1:]] == [None] * (COUNT - 1)  # TF's trace has the first
