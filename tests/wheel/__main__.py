"""`python -m tests.wheel`: how many of the tests that NumPy passes, lazy NumPy passes."""

from __future__ import annotations

import argparse

from tests.wheel.outcomes import Outcomes
from tests.wheel.runner import run
from tests.wheel.selection import MODULES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.wheel", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of the modules to run")
    parser.add_argument("--failures", action="store_true", help="print what failed, and why")
    options = parser.parse_args()
    chosen = [m for m in MODULES if not options.words or any(w in m for w in options.words)]
    totals = [0, 0]
    print(f"{'module':36}{'NumPy':>8}{'lazy':>8}{'%':>8}", flush=True)
    for module in chosen:
        theirs, ours = run(module, "numpy"), run(module)
        count, passed = len(theirs.passed()), len(theirs.passed() & ours.passed())
        totals = [totals[0] + count, totals[1] + passed]
        print(_line(module, count, passed), flush=True)
        if options.failures:
            _print_failures(ours)
    print(_line("all", *totals))


def _line(name: str, count: int, passed: int) -> str:
    return f"{name:36}{count:8}{passed:8}{100 * passed / max(1, count):8.2f}"


def _print_failures(outcomes: Outcomes) -> None:
    for test, reason in outcomes.reasons.items():
        print(f"    {test}: {' '.join(reason.split())[:200]}")


if __name__ == "__main__":
    main()
