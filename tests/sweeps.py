"""Sweeps: tests of long tables, of which a commit runs a share and the nightly run every case.

The share is the same for every commit, so that a change is judged by the cases of the one before.
"""

from __future__ import annotations

import os
from typing import Final
from zlib import crc32

import pytest

WHOLE: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
"""Whether every case runs: `make test-all`."""


def one_in(n: int) -> pytest.MarkDecorator:
    """The mark of a test of which a commit runs about one case in `n`, chosen by its name."""
    return pytest.mark.sweep(n)


def is_left_out(item: pytest.Item) -> bool:
    """Whether a case is left to the nightly run."""
    mark = item.get_closest_marker("sweep")
    return mark is not None and not WHOLE and not is_chosen(item.nodeid, mark.args[0])


def is_chosen(name: str, n: int) -> bool:
    """Whether a case is the one in `n`."""
    return crc32(name.encode()) % n == 0
