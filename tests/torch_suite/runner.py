"""Runs PyTorch's test files, on the device or on the CPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.torch_suite.selection import HERE
from tests.wheel.outcomes import PROJECT, Outcomes, outcomes

ENVIRONMENT: Final = {"CUDA_VISIBLE_DEVICES": "-1", "OMP_NUM_THREADS": "1"}


def run(source: Path, tests: Sequence[str], *, lazily: bool = True, only: str = "") -> Outcomes:
    """Run files, or tests by id, of the folder `test` of a checkout; `only`: pytest's `-k`.

    Raises: RuntimeError if no test has run.
    """
    root = source.resolve() / "test"
    arguments = [
        *(str(root / test) for test in tests),
        f"--config-file={HERE / 'settings.ini'}",
        f"--rootdir={root}",
        *([] if lazily else ["--on-the-cpu"]),
        *(["-k", only] if only else []),
    ]
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join([str(PROJECT), str(root)])}
    found = outcomes(tests[0], arguments, environment)
    if not found.recorded:  # nothing has run
        raise RuntimeError(f"{tests[0]}: pytest ended without a test:\n{found.output[-4000:]}")
    return found
