"""Long walks: `python -m tests.fuzz [--steps 100000] [--seed 0] [--keep-going]`."""

from __future__ import annotations

import argparse
import random
import sys
import time

from lazytensor.core.settings import settings
from tests.fuzz.walk import Failure, shrunk, walk

LENGTH = 60


def main() -> int:
    """Walk; print the programs that give a difference, as short as can be."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--keep-going", action="store_true", help="past the first difference")
    given = parser.parse_args()
    settings.disk = False
    found, steps, seed, start = 0, 0, given.seed, time.monotonic()
    while steps < given.steps:
        rng = random.Random(seed)
        try:
            steps += len(walk(rng.randrange(2**32) for _ in range(LENGTH)))
        except Failure as failure:
            steps += len(failure.lines)
            found += 1
            print(f"\n# seed {seed}\n{shrunk(failure)}", flush=True)
            if not given.keep_going:
                return 1
        seed += 1
        if seed % 50 == 0:
            print(f"{steps} steps, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{steps} steps, {found} differences, seeds {given.seed} to {seed - 1}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
