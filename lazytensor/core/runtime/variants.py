"""Variants: another program that is run in a program's place, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lazytensor.core.runtime import equivalent_programs, shape_buckets
from lazytensor.core.runtime.run import Run

Variant = Callable[[Run], Run | None]
"""The run as one of another program; None where there is none."""

KNOWN: Final[tuple[Variant, ...]] = (equivalent_programs.known, shape_buckets.padded)
"""Variants that cost little to find, in order. They are asked at each run."""
SPARING: Final[tuple[Variant, ...]] = (equivalent_programs.searched,)
"""Variants that may spare a compile. Finding them costs about 0.1 % of one."""


def known(run: Run) -> Run:
    """The run that takes this one's place, or this one."""
    for variant in KNOWN:
        run = variant(run) or run
    return run


def sparing(run: Run) -> Run | None:
    """The first run that may spare this one its compile, if there is one."""
    return next((made for variant in SPARING if (made := variant(run)) is not None), None)
