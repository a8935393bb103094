"""`python -m tests.keras_wheel`: how many of the tests that pass with TensorFlow, pass lazily.

All are run lazily, and with TensorFlow as it is those that do not pass.
"""

from __future__ import annotations

import argparse

from tests.keras_wheel.runner import run
from tests.keras_wheel.selection import GROUPS, files
from tests.wheel.outcomes import Outcomes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.keras_wheel", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}, or files' paths")
    parser.add_argument("--failures", action="store_true", help="print what failed, and why")
    options = parser.parse_args()
    totals = [0, 0, 0]
    print(f"{'group':24}{'TensorFlow':>12}{'lazy':>8}{'%':>8}{'recorded':>10}", flush=True)
    for group in options.groups or GROUPS:
        ours = run(group, files(group) if group in GROUPS else [group])
        kept = ours.passed()
        others = [test for test, outcome in ours.tests.items() if outcome in ("failed", "expected")]
        lost = run(group, others, lazily=False).passed() if others else set()
        recorded = sum(ours.recorded.get(test, 0) > 0 for test in kept)
        line = [len(kept | lost), len(kept), recorded]
        totals = [a + b for a, b in zip(totals, line, strict=True)]
        print(_line(group, *line), flush=True)
        if options.failures:
            _print_failures(ours, lost)
    print(_line("all", *totals))


def _line(name: str, count: int, passed: int, recorded: int) -> str:
    return f"{name:24}{count:12}{passed:8}{100 * passed / max(1, count):8.2f}{recorded:10}"


def _print_failures(ours: Outcomes, lost: set[str]) -> None:
    for test in sorted(lost):
        reason = " ".join(ours.reasons.get(test, ours.tests[test]).split())
        print(f"    {test}: {reason[:300]}")


if __name__ == "__main__":
    main()
