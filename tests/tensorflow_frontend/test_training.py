"""Training: losses equal to TensorFlow's own, no fallbacks, and few compiles.

Every commit trains the small models for a few steps, the nightly run all of them for twenty.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics, settings
from tests.sweeps import WHOLE
from tests.tensorflow_frontend.models import TASKS, Task, fit, loss_of, train

STEPS = 20 if WHOLE else 4
Loop = Callable[[Task, int], list[float]]
PROGRAMS = {
    train: 1,  # the step; initial values are interpreted
    fit: 2,  # and the loss of an epoch
}
DEEP = ("mobilenet", "resnet")
SMALL = [("cnn", train), ("cnn", fit), ("lstm", fit), ("unet", train)]
ALL = [(name, loop) for name in TASKS if name not in DEEP for loop in PROGRAMS]
thorough = pytest.mark.skipif(not WHOLE, reason="takes minutes")


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps as small as these would be interpreted at first."""
    monkeypatch.setattr(settings, "tier", "compile")


@pytest.fixture
def double() -> Iterator[None]:
    """Models in double precision. Keras keeps the policy that its first model had."""
    before, policy = tf.keras.config.floatx(), tf.keras.config.dtype_policy()
    tf.keras.config.set_floatx("float64")
    tf.keras.config.set_dtype_policy("float64")
    yield
    tf.keras.config.set_floatx(before)
    tf.keras.config.set_dtype_policy(policy)


def assert_trained(counts: dict[str, Any], programs: int) -> None:
    assert counts["fallbacks"] == counts["automatic_cuts"] == 0
    assert counts["compiles"] + counts["disk_hits"] <= programs


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "loop"), ALL if WHOLE else SMALL)
def test_losses_are_tensorflows(name: str, loop: Loop) -> None:
    task = TASKS[name]
    expected = loop(task, STEPS)
    with lazytensor.tf.enabled():
        metrics.reset()
        found = loop(task, STEPS)
        counts = metrics.snapshot()
    assert found == pytest.approx(expected, rel=1e-4)
    assert_trained(counts, PROGRAMS[loop])


def gradients(task: Task) -> list[np.ndarray]:
    """Of the first step."""
    tf.keras.utils.set_random_seed(0)
    model, measure = task.make(), loss_of(task)
    with tf.GradientTape() as tape:
        loss = measure(task.y, model(tf.constant(task.x), training=True))
    return [np.asarray(slope) for slope in tape.gradient(loss, model.trainable_variables)]


@thorough
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", DEEP)
def test_gradients_of_deep_networks_are_tensorflows(name: str, double: None) -> None:
    """In double precision, and of one step: what a batch of four is normalised by amplifies every
    rounding. Of twenty steps the losses of TensorFlow's own part by a half when a batch is
    multiplied by 1 + 1e-13.
    """
    task = TASKS[name]
    task = task._replace(x=task.x.astype(np.float64))
    slopes = gradients(task)
    with lazytensor.tf.enabled():
        metrics.reset()
        found = gradients(task)
        assert metrics.counts["fallbacks"] == 0
    size = max(np.abs(slope).max() for slope in slopes)
    for mine, theirs in zip(found, slopes, strict=True):
        assert mine.dtype == np.float64
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * size)


@thorough
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("loop", PROGRAMS)
@pytest.mark.parametrize("name", DEEP)
def test_deep_networks_are_one_program(name: str, loop: Loop) -> None:
    """In single precision, and with Adam, whose first steps are signs of roundings."""
    with lazytensor.tf.enabled():
        metrics.reset()
        losses = loop(TASKS[name], STEPS)
        counts = metrics.snapshot()
    assert losses[-1] < losses[0]
    assert_trained(counts, PROGRAMS[loop])


def resident() -> float:
    """Megabytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@thorough
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("as_function", [False, True], ids=["eager", "function"])
def test_a_thousand_steps_compile_nothing_and_need_no_more_memory(as_function: bool) -> None:
    """A step that kept its batch would take 25 MB more in the second half."""
    task = TASKS["cnn"]
    with lazytensor.tf.enabled():
        model, measure = task.make(), loss_of(task)
        optimizer = tf.keras.optimizers.Adam(1e-3)
        optimizer.build(model.trainable_variables)

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = measure(y, model(x, training=True))
            slopes = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
            return loss

        run = tf.function(step) if as_function else step
        memory = []
        for i in range(1000):
            if i == 10:
                metrics.reset()
            loss = run(tf.constant(task.x + i), tf.constant(task.y))
            if i % 10 == 0:
                float(loss)
            memory.append(resident())
        counts = metrics.snapshot()
    assert counts["fallbacks"] == counts["compiles"] == counts["automatic_cuts"] == 0
    assert memory[-1] < memory[500] + 10
