"""Training: losses equal to TensorFlow's own, no fallbacks, at most two compiles a step."""

import pytest

import lazytensor.tf
from lazytensor import metrics, settings
from tests.tensorflow_frontend.models import TASKS, fit, train

STEPS = 4


@pytest.mark.parametrize("name", ["cnn"])
@pytest.mark.parametrize("loop", [train, fit])
def test_losses_are_tensorflows(name: str, loop: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(loop)
    monkeypatch.setattr(settings, "tier", "compile")
    task = TASKS[name]
    expected = loop(task, STEPS)
    with lazytensor.tf.enabled():
        metrics.reset()
        found = loop(task, STEPS)
        counts = metrics.snapshot()
    assert found == pytest.approx(expected, rel=1e-4)
    assert counts["fallbacks"] == 0
