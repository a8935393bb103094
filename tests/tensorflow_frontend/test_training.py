"""Training: losses equal to TensorFlow's own, no fallbacks, and few compiles."""

from collections.abc import Callable

import pytest

import lazytensor.tf
from lazytensor import metrics, settings
from tests.tensorflow_frontend.models import TASKS, Task, fit, train

STEPS = 4
Loop = Callable[[Task, int], list[float]]
PROGRAMS = {
    train: 1,  # the step; initial values are interpreted
    fit: 2,  # and the loss of an epoch
}


@pytest.mark.parametrize(("name", "loop"), [("cnn", train), ("cnn", fit), ("unet", train)])
def test_losses_are_tensorflows(name: str, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    task = TASKS[name]
    expected = loop(task, STEPS)
    with lazytensor.tf.enabled():
        metrics.reset()
        found = loop(task, STEPS)
        counts = metrics.snapshot()
    assert found == pytest.approx(expected, rel=1e-4)
    assert counts["fallbacks"] == counts["automatic_cuts"] == 0
    assert counts["compiles"] + counts["disk_hits"] <= PROGRAMS[loop]
