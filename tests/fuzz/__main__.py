"""Long walks: `python -m tests.fuzz [--steps 100000] [--seed 0] [--keep-going]`.

With every third program all arrays are lazy; with the others the smallest stay NumPy's.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from lazytensor import Mesh
from lazytensor.core.ir.recording import nodes_made
from lazytensor.core.settings import settings
from tests.fuzz.walk import SMALL, Failure, leaving_small, shrunk, splitting, walk

LENGTH = 60
MESHES = (Mesh((2,), ("x",)), Mesh((2, 1), ("a", "b")))
"""Of the same devices."""


def main() -> int:
    """Walk; print the programs that give a difference, as short as can be."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--split", action="store_true", help="arrays over the devices of meshes")
    parser.add_argument("--keep-going", action="store_true", help="past the first difference")
    given = parser.parse_args()
    settings.disk = False
    found, steps, seed, start, made = 0, 0, given.seed, time.monotonic(), nodes_made()
    while steps < given.steps:
        small = SMALL[seed % len(SMALL)]
        with leaving_small(small), splitting(*(MESHES if given.split else ())):
            lines, failure = _walked(seed)
        steps += lines
        if failure is not None:
            found += 1
            print(f"\n# seed {seed}, small {small}\n{failure}", flush=True)
            if not given.keep_going:
                return 1
        seed += 1
        if seed % 50 == 0:
            print(f"{steps} steps, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    recorded = nodes_made() - made
    seeds = f"seeds {given.seed} to {seed - 1}"
    print(f"{steps} steps, {recorded} operations recorded, {found} differences, {seeds}")
    return bool(found or not recorded)


def _walked(seed: int) -> tuple[int, Failure | None]:
    """How many lines one program has, and the difference that it gives, as short as can be."""
    rng = random.Random(seed)
    try:
        return len(walk(rng.randrange(2**32) for _ in range(LENGTH))), None
    except Failure as failure:
        return len(failure.lines), shrunk(failure)


if __name__ == "__main__":
    sys.exit(main())
