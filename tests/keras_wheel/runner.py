"""Runs Keras's tests, with TensorFlow as it is or with a lazy one."""

from __future__ import annotations

from collections.abc import Sequence

from tests.keras_wheel.selection import HERE, sources
from tests.wheel.outcomes import Outcomes, outcomes

ENVIRONMENT = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


def run(name: str, tests: Sequence[str], *, lazily: bool = True) -> Outcomes:
    """Run tests: files in Keras's sources, or ids, which begin at `keras/src`."""
    root = sources()
    arguments = [
        *(str(root / test.removeprefix("keras/src/")) for test in tests),
        f"--config-file={HERE / 'settings.ini'}",
        f"--rootdir={root.parents[1]}",
        *([] if lazily else ["--eagerly"]),
    ]
    return outcomes(name, arguments, ENVIRONMENT)
