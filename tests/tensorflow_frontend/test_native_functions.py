"""A `tf.function` by TensorFlow's own call gives what its body gives, interpreted op by op."""

from __future__ import annotations

import resource
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor
import lazytensor.tf
from lazytensor.frontends.tf.host import functions
from lazytensor.frontends.tf.host.functions import FasterCall, NativeCall

ROUNDS = 6
X = np.arange(6, dtype=np.float32).reshape(2, 3) + 1


def _adds(v: Any, x: Any) -> Any:
    v.assign_add(x)
    return tf.reduce_sum(v) * 2, v + 1


def _only_reads(v: Any, x: Any) -> Any:
    return tf.matmul(v, x, transpose_b=True)


def _only_writes(v: Any, x: Any) -> Any:
    v.assign(v * 0.5 + x)


def _trains(v: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(v * x) - 1))
    v.assign_sub(0.1 * tape.gradient(loss, v))
    return loss


def _scatters(v: Any, x: Any) -> Any:
    v.scatter_nd_add([[1], [0]], x)
    return tf.gather(v, [1, 1, 0])


def _loops(v: Any, x: Any) -> Any:
    i = tf.constant(0)
    while i < 3:
        x = x * 1.5 + v
        i += 1
    return x, i


def _branches(v: Any, x: Any) -> Any:
    if tf.reduce_sum(x) > 100:
        return x
    return x + v


def _counts(v: Any, x: Any) -> Any:
    return tf.argmax(x, 1), tf.cast(x, tf.bfloat16), x > 3, tf.cast(tf.complex(x, v), tf.complex64)


def _draws(v: Any, x: Any) -> Any:
    return x + tf.random.stateless_uniform(v.shape, [1, 2])


def _returns_what_is_given(v: Any, x: Any) -> Any:
    return x, x * 2, v.read_value()


BODIES = [
    _adds, _only_reads, _only_writes, _trains, _scatters, _loops, _branches, _counts, _draws,
    _returns_what_is_given,
]  # fmt: skip


@pytest.fixture(autouse=True)
def by_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "tier", "interpret")


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """TensorFlow's call is taken at once; the functions that it was taken for."""
    names: list[str] = []
    call = NativeCall.__call__

    def noted(self: NativeCall, *operands: np.ndarray) -> Any:
        names.append(self.name)
        return call(self, *operands)

    monkeypatch.setattr(NativeCall, "__call__", noted)
    monkeypatch.setattr(functions, "COMPILE_SECONDS", 0.0)
    monkeypatch.setattr(functions, "TRIALS", 10**6)  # and for all runs
    return names


def _run(body: Callable[..., Any]) -> list[np.ndarray]:
    """All results of some calls, and what the variable is after each."""
    v = tf.Variable(X / 2)
    function = tf.function(body)
    found = []
    for i in range(ROUNDS):
        made = function(v, tf.constant(X + i))
        found += [np.asarray(x) for x in tf.nest.flatten(made) if x is not None]
        found.append(v.numpy())
    return found


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__.strip("_"))
def test_same_values(body: Callable[..., Any], native: list[str]) -> None:
    wanted = _run(body)
    with lazytensor.tf.enabled():
        found = _run(body)
    assert len(native) == ROUNDS
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(mine, theirs)  # the same kernels


def test_variables_are_told_apart_whatever_their_order_and_names(native: list[str]) -> None:
    """One is given twice, one is only read, and nodes have names that ours could have."""

    @tf.function
    def function(a: Any, b: Any, again: Any, c: Any) -> Any:
        c.assign_add(tf.identity(a + b, name="value_1"))
        again.assign_sub(tf.identity(c, name="value_0"))
        return tf.identity(a * 1, name="lazytensor_value")

    def calls() -> list[np.ndarray]:
        a, b, c = tf.Variable(X), tf.Variable(X * 2), tf.Variable(X * 3)
        results = [function(a, b, a, c).numpy() for _ in range(3)]
        return [*results, a.numpy(), b.numpy(), c.numpy()]

    wanted = calls()
    with lazytensor.tf.enabled():
        found = calls()
    assert len(native) == 3
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_tensorflow_would_compile_is_not_called(native: list[str]) -> None:
    """Nobody waits for a compiler, TensorFlow's included."""
    inner = tf.function(lambda x: x * 2 + 1, jit_compile=True)
    with lazytensor.tf.enabled():
        for function in (inner, tf.function(lambda x: inner(x) + 1)):
            wanted = X * 2 + (1 if function is inner else 2)
            np.testing.assert_array_equal(function(tf.constant(X)).numpy(), wanted)
    assert not native


def test_values_from_before_a_call_stay(native: list[str]) -> None:
    """TensorFlow shares memory with operands and results, and writes to neither."""
    with lazytensor.tf.enabled():
        v = tf.Variable(tf.constant(np.zeros((64, 64), np.float32)) + 1)
        function = tf.function(lambda x: v.assign_add(x))
        one = tf.ones((64, 64))
        olds = []
        for _ in range(ROUNDS):
            olds.append(v.read_value())
            function(one)
        assert [float(old[0, 0]) for old in olds] == [1 + i for i in range(ROUNDS)]
        assert float(tf.reduce_sum(one)) == 64 * 64
    assert len(native) == ROUNDS


def test_a_failed_assertion_changes_nothing(native: list[str]) -> None:
    with lazytensor.tf.enabled():
        v = tf.Variable([1.0, 2.0])

        @tf.function
        def function(x: Any) -> Any:
            tf.debugging.assert_positive(x, "not positive")
            v.assign_add(x)
            return x * 2

        assert function(tf.constant([1.0, 1.0])).numpy().tolist() == [2, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
            function(tf.constant([1.0, -1.0])).numpy()
        assert v.numpy().tolist() == [2, 3]
        assert function(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]
        assert v.numpy().tolist() == [3, 5]
    assert len(native) == 2  # once that is refused, the body is interpreted


def test_variables_of_the_calls_do_not_pile_up(native: list[str]) -> None:
    """Two hundred calls with a variable of four megabytes take less than twenty."""
    with lazytensor.tf.enabled():
        v = tf.Variable(np.ones((1024, 1024), np.float32))
        function = tf.function(lambda x: v.assign(v * 0.5 + x))
        taken = []
        for _ in range(8):
            for _ in range(50):
                function(tf.constant(1.0))
            taken.append(_resident_bytes())
    assert taken[-1] - taken[3] < 20e6
    assert len(native) == 400


def test_a_variable_is_made_anew_only_for_a_value_from_elsewhere(
    native: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    make = functions._variable
    monkeypatch.setattr(functions, "_variable", lambda *args: made.append(args) or make(*args))
    with lazytensor.tf.enabled():
        v = tf.Variable(X)
        function = tf.function(lambda x: v.assign_add(x))
        for _ in range(ROUNDS):
            function(tf.constant(X))
        assert len(made) == 1
        v.assign(X)
        for _ in range(ROUNDS):
            function(tf.constant(X))
        np.testing.assert_array_equal(v.numpy(), (1 + ROUNDS) * X)
    assert len(made) == 2
    assert len(native) == 2 * ROUNDS


def test_a_kept_variable_ends_with_the_array_that_shows_its_value() -> None:
    class Handle:
        pass

    kept, value, handle = functions._Variables(), X.copy(), Handle()
    seen = weakref.ref(handle)
    kept.keep(0, value, handle)
    assert kept.take(0, X.copy()) is None  # another array: the variable is dropped
    kept.keep(0, value, handle)
    assert kept.take(0, value) is handle
    assert kept.take(0, value) is None  # one call at a time has it
    kept.keep(0, value, handle)
    del handle, value
    assert seen() is None


def _resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Slow:
    """A function that sleeps, so that it is known which one is slow."""

    def __init__(self, seconds: float, written: tuple[int, ...] = ()) -> None:
        self.seconds, self.written, self.runs = seconds, written, 0

    def __call__(self, *_: np.ndarray) -> tuple[()]:
        self.runs += 1
        time.sleep(self.seconds)
        return ()


@pytest.mark.parametrize("is_step", [False, True])
@pytest.mark.parametrize("faster", [False, True])
def test_the_faster_one_is_kept(faster: bool, is_step: bool) -> None:
    own, native = Slow(0.03 if faster else 0.005), Slow(0.01, written=(0,) if is_step else ())
    call = FasterCall(own, native, estimate=own.seconds)  # type: ignore[arg-type]
    for _ in range(60):
        call()
    assert native.runs > 30 if faster else native.runs == functions.TRIALS
    if is_step:
        assert own.runs == (0 if faster else 60 - functions.TRIALS)
    else:
        assert own.runs * own.seconds >= functions.COMPILE_SECONDS
