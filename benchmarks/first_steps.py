"""The first sixty steps of training, from an empty disk cache, against torch eager.

Each contestant is a process of its own, so that nothing is warm: neither memory nor a compiler.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.figures import Figures, count, figure, ratio
from benchmarks.process import python
from benchmarks.row import Effort, Row
from benchmarks.scripts import SCRIPTS, Step

STEPS: Final = 60
"""Steps that count as the first."""
WARM_SECONDS: Final = 12.0
"""Seconds of training until the steady state is measured."""
DEVICES: Final = {"ours": "lazytensor", "torch": "cpu"}


def first_steps(name: str, effort: Effort) -> Figures:
    """Time of the first steps, of a step in the steady state, and the longest pause of a step."""
    said: dict[str, list[dict[str, Any]]] = {who: [] for who in (*DEVICES, "warm")}
    for _ in range(effort.rounds(3)):
        with TemporaryDirectory() as cache:
            for who, device in DEVICES.items():
                said[who].append(_process(name, device, cache))
            said["warm"].append(_process(name, DEVICES["ours"], cache))
    firsts, steady = ({w: [s[k] for s in said[w]] for w in said} for k in ("first", "steady"))
    return {
        "ours, 60 steps": figure(firsts["ours"]),
        "torch, 60 steps": figure(firsts["torch"]),
        "first torch / ours": ratio(firsts["torch"], firsts["ours"]),
        "second process torch / ours": ratio(firsts["torch"], firsts["warm"]),
        "ours, a step": figure(steady["ours"]),
        "torch, a step": figure(steady["torch"]),
        "steady torch / ours": ratio(steady["torch"], steady["ours"]),
        "longest step": figure([s["longest"] for s in said["ours"]]),
        "compiles": count(statistics.median(s["compiles"] for s in said["ours"])),
    }


def _process(name: str, device: str, cache: str) -> dict[str, Any]:
    return python("-m", "benchmarks.first_steps", name, device, cache=cache).answer


def _timed(step: Step) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def main() -> None:
    """The process: train, and print the seconds as JSON. The data are made before the clock."""
    import torch

    import lazytensor

    name, device = sys.argv[1:]
    if device == DEVICES["ours"]:
        import lazytensor.torch
    torch.manual_seed(0)
    step = next(made for made in SCRIPTS if made.__name__ == name)(device)
    lazytensor.sync()
    start = time.perf_counter()
    firsts = [_timed(step) for _ in range(STEPS)]
    lazytensor.sync()
    first = time.perf_counter() - start
    while time.perf_counter() - start < WARM_SECONDS:
        step()
    lazytensor.sync()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    lazytensor.sync()
    steady = (time.perf_counter() - start) / STEPS
    counts = lazytensor.metrics.snapshot()
    said = {"first": first, "steady": steady, "longest": max(firsts)}
    print(json.dumps({**said, "compiles": counts["compiles"], "cuts": counts["cuts"]}))


def rows() -> list[Row]:
    """The table of the first steps."""
    return [
        Row(
            f"first-{script.__name__.replace('_', '-')}",
            (script.__doc__ or "").strip(),
            "60 steps ≥ 0.7× torch, steady ≥ 0.9×",
            lambda m: m["first torch / ours"] >= 0.7 and m["steady torch / ours"] >= 0.9,
            partial(first_steps, script.__name__),
            ("first torch / ours", "second process torch / ours", "steady torch / ours"),
        )
        for script in SCRIPTS
    ]


if __name__ == "__main__":
    main()
