"""Runs before those that are measured."""

from __future__ import annotations

import time
from collections.abc import Callable

import lazytensor

QUIET_RUNS = 20  # without a compile: some are interpreted first, then timed both ways, 8 runs each
QUIET_SECONDS = 2.0  # without a compile: tiers are chosen by what programs have cost
LONGEST = 30.0  # seconds after which what still compiles is measured as it is


def warm_up(run: Callable[[], object]) -> None:
    """Run until nothing has been compiled for a while."""
    start = quiet = time.perf_counter()
    runs, before = 0, -1.0
    while time.perf_counter() - start < LONGEST:
        run()
        compiles = lazytensor.metrics.snapshot()["compiles"]
        runs += 1
        if compiles != before:
            runs, quiet, before = 0, time.perf_counter(), compiles
        elif runs >= QUIET_RUNS and time.perf_counter() - quiet > QUIET_SECONDS:
            return
