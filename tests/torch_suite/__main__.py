"""`python -m tests.torch_suite --source CHECKOUT`: how many of the tests that pass on the CPU, pass
on the device.

CHECKOUT is a folder with PyTorch's sources, of a release near the installed one. Tests that torch
skips on either device do not count.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.torch_suite.runner import run
from tests.torch_suite.selection import FILES, cpus
from tests.wheel.outcomes import Outcomes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.torch_suite", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of the files to run")
    parser.add_argument("--source", type=Path, required=True, help="a checkout of PyTorch")
    parser.add_argument("--only", default="", help="pytest's expression of names of tests")
    parser.add_argument("--failures", action="store_true", help="print what failed, and why")
    options = parser.parse_args()
    chosen = [f for f in FILES if not options.words or any(w in f for w in options.words)]
    totals = [0, 0, 0]
    print(f"{'file':32}{'CPU':>8}{'device':>8}{'%':>8}{'recorded':>10}", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        both = [
            [pool.submit(run, options.source, [f], lazily=x, only=options.only) for x in (0, 1)]
            for f in chosen
        ]
        for file, (theirs, ours) in zip(chosen, both, strict=True):
            line = _counts(theirs.result(), ours.result())
            totals = [a + b for a, b in zip(totals, line, strict=True)]
            print(_line(file, *line), flush=True)
            if options.failures:
                _print_failures(theirs.result(), ours.result())
    print(_line("all", *totals))


def _counts(theirs: Outcomes, ours: Outcomes) -> list[int]:
    """How many pass on the CPU and are run on the device, pass there, and record anything."""
    base, kept = _base(theirs, ours), ours.passed()
    passed = base & kept
    return [len(base), len(passed), sum(ours.recorded.get(test, 0) > 0 for test in passed)]


def _base(theirs: Outcomes, ours: Outcomes) -> set[str]:
    """The device's tests that are not skipped, and pass on the CPU."""
    passed = theirs.passed()
    return {test for test, end in ours.tests.items() if end != "skipped" and cpus(test) in passed}


def _line(name: str, count: int, passed: int, recorded: int) -> str:
    return f"{name:32}{count:8}{passed:8}{100 * passed / max(1, count):8.2f}{recorded:10}"


def _print_failures(theirs: Outcomes, ours: Outcomes) -> None:
    for test in sorted(_base(theirs, ours) - ours.passed()):
        print(f"    {test}: {' '.join(ours.reasons.get(test, ours.tests[test]).split())[:400]}")


if __name__ == "__main__":
    main()
