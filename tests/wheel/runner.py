"""Runs one of NumPy's test modules, with NumPy or with what is to stand for it."""

from __future__ import annotations

from typing import Final

from tests.wheel.outcomes import Outcomes, outcomes
from tests.wheel.selection import HERE, SITE

LAZY: Final = "lazytensor.numpy"


def run(module: str, numpy: str = LAZY, *, slow: bool = True) -> Outcomes:
    """Run the tests of `module`, a path in NumPy's package, with the package `numpy` as NumPy.

    All arrays are lazy however small, and there are no tests of big ones.
    """
    arguments = [
        str(SITE / "numpy" / module),
        f"--config-file={HERE / 'settings.ini'}",
        f"--rootdir={SITE}",
        f"--in-place-of-numpy={numpy}",
        *([] if slow else ["-m", "not slow"]),
    ]
    return outcomes(module, arguments, {"LAZYTENSOR_SMALL": "0", "NPY_AVAILABLE_MEM": "1G"})
