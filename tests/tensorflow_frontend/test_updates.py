"""Raw ops that assign to variables, against TensorFlow's kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics
from lazytensor.frontends.tf.dispatch.opdef import find
from lazytensor.frontends.tf.rows.optimizers import UPDATES

FLAGGED = [(n, flag) for n, u in UPDATES.items() for flag in (False, True)[: 1 + bool(u.flag)]]
SCATTERS = {
    "ResourceScatterSub": ([1, 1], [[1.0, 2.0], [3.0, 4.0]]),
    "ResourceScatterMul": ([2, 2], [[1.0, 2.0], [3.0, 4.0]]),
    "ResourceScatterDiv": ([2, 2], [[1.0, 2.0], [4.0, 4.0]]),
    "ResourceScatterNdAdd": ([[1, 0], [2, 1]], [1.0, 2.0]),
    "ResourceScatterNdSub": ([[1], [2]], [[1.0, 2.0], [3.0, 4.0]]),
    "ResourceScatterNdUpdate": ([[2], [0]], [[1.0, 2.0], [3.0, 4.0]]),
}


def updated(name: str, flag: bool) -> list[np.ndarray]:
    update, definition = UPDATES[name], find(f"ResourceApply{name}")
    assert definition is not None
    random = np.random.default_rng(4)
    count = update.slots + 1
    variables = [tf.Variable(random.uniform(0.2, 0.9, 3)) for _ in range(count)]
    if name == "CenteredRMSProp":
        variables[2].assign(variables[2] + 1.0)  # a mean square is larger than a squared mean
    named: dict[str, Any] = {}
    for i, given in enumerate(definition.inputs):
        if i < count:
            named[given.name] = variables[i].handle
        elif given.name in ("grad", "delta"):
            named[given.name] = tf.constant(random.normal(size=3)) * 1.0
        elif given.name == "global_step":
            named[given.name] = tf.constant(3, tf.int64)
        elif given.name == "lr_power":
            named[given.name] = tf.constant(-0.5, tf.float64)
        else:
            named[given.name] = tf.constant(random.uniform(0.1, 0.9), tf.float64)
    attrs = {update.flag: flag} if update.flag else {}
    for _ in range(2):
        getattr(tf.raw_ops, f"ResourceApply{name}")(**named, **attrs)
    return [v.numpy() for v in variables]


@pytest.mark.parametrize(("name", "flag"), FLAGGED)
def test_an_optimizers_op_is_tensorflows(name: str, flag: bool) -> None:
    expected = updated(name, flag)
    with lazytensor.tf.enabled():
        before = metrics.counts["fallbacks"]
        found = updated(name, flag)
        assert metrics.counts["fallbacks"] == before
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("name", SCATTERS)
def test_scattering_into_a_variable_is_tensorflows(name: str) -> None:
    def outcome() -> Any:
        v = tf.Variable(np.arange(6.0).reshape(3, 2))
        indices, updates = SCATTERS[name]
        given = tf.constant(updates, v.dtype) * 1.0
        into = "ref" if "Nd" in name else "resource"
        getattr(tf.raw_ops, name)(**{into: v.handle}, indices=indices, updates=given)
        return v.numpy()

    expected = outcome()
    with lazytensor.tf.enabled():
        before = metrics.counts["fallbacks"]
        np.testing.assert_allclose(outcome(), expected, rtol=1e-15)
        assert metrics.counts["fallbacks"] == before


def rows(values: Any, at: Any) -> tf.IndexedSlices:
    return tf.IndexedSlices(tf.constant(values), tf.constant(at))


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a sum of another shape": lambda v: v.assign_add(tf.ones([2]) * 2.0),
    "a number added": lambda v: v.assign_add(1.0),
    "a row subtracted": lambda v: v.assign_sub(v[0]),
    "a part that is too long": lambda v: v[0].assign([1.0, 1.0, 1.0]),
    "a part that is too short": lambda v: v[:, 0].assign([1.0, 2.0]),
    "elements, too few": lambda v: v.scatter_nd_add([[0, 0]], [1.0, 2.0]),
    "elements, too long": lambda v: v.scatter_nd_update([[0]], [[1.0, 1.0, 1.0]]),
    "rows of no axis": lambda v: v.scatter_add(rows([1.0, 1.0], [0])),
    "rows divided by zeros": lambda v: v.scatter_div(rows([[0.0, 1.0]], [1])),
}


@pytest.mark.parametrize("way", ["eagerly", "in a function"])
@pytest.mark.parametrize("name", REFUSED)
def test_an_update_that_tensorflow_refuses_is_refused(name: str, way: str) -> None:
    """With TensorFlow's class, and the variable is as it was."""

    def outcome() -> Any:
        v = tf.Variable(np.arange(6.0, dtype=np.float32).reshape(3, 2))
        v.assign(v * 2.0)

        def update() -> None:
            REFUSED[name](v)

        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)) as refused:
            (update if way == "eagerly" else tf.function(update))()
        return refused.type.__mro__[:-1], v.numpy()

    (classes, expected) = outcome()
    with lazytensor.tf.enabled():
        found, left = outcome()
    assert classes[0] in found
    np.testing.assert_array_equal(left, expected)


def test_a_function_may_give_a_variable_another_shape(recording: None) -> None:
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]))

    @tf.function
    def grow(i: Any) -> Any:
        v.assign(tf.concat([v, tf.gather(v, [i])], 0))
        return tf.reduce_sum(v)

    assert [float(grow(i)) for i in (1, 0, 1)] == [5.0, 6.0, 8.0]
    assert v.numpy().tolist() == [1.0, 2.0, 2.0, 1.0, 2.0]
    assert float(grow(tf.cast(v[0] * 1.0, tf.int32))) == 10.0


def test_a_function_keeps_a_variables_shape(recording: None) -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def put(x: Any) -> None:
        v.assign(x)

    put(tf.ones([2]) * 3.0)
    for other in (tf.ones([4]) * 2.0, tf.constant(1.0)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            put(other)
    assert v.numpy().tolist() == [3.0, 3.0]
