"""Runs one of NumPy's test modules, with NumPy or with what is to stand for it."""

from __future__ import annotations

from typing import Final

from tests.wheel.outcomes import Outcomes, outcomes
from tests.wheel.selection import HERE, SITE

LAZY: Final = "lazytensor.numpy"


def run(module: str, numpy: str = LAZY, *, whole: bool = True) -> Outcomes:
    """Run the tests of `module`, a path in NumPy's package, with the package `numpy` as NumPy.

    All arrays are lazy however small, and there are no tests of big ones. whole: with the slow
    tests, and all cases of those with tables; else a quarter of these.
    """
    arguments = [
        str(SITE / "numpy" / module),
        f"--config-file={HERE / 'settings.ini'}",
        f"--rootdir={SITE}",
        f"--in-place-of-numpy={numpy}",
        *([] if whole else ["-m", "not slow", "--one-in=4"]),
    ]
    return outcomes(module, arguments, {"LAZYTENSOR_SMALL": "0", "NPY_AVAILABLE_MEM": "1G"})
