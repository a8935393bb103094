"""What the wide sweep (`test_wide_sweep.py`) finds to differ, with the reasons. All are strict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

GAPS: dict[str, dict[str, str]] = {}
"""Per reason: raw ops, and the dtypes at which they differ."""

BRIDGE_GAPS: dict[str, dict[str, str]] = {
    "the bridge computes the gradient in single precision: TensorFlow's kernel does it": {
        "ResizeBilinear": "float64",
    },
    "the bridge does not take the gradient at this dtype, TensorFlow's kernel does": {
        "LRN": "float16",
        "MaxPoolGradV2": "float16 bfloat16 float64",
    },
}
"""The same for the ops of TensorFlow's bridge (`test_bridge_dtypes.py`)."""


def marked(pairs: Iterable[tuple[str, Any]], gaps: dict[str, dict[str, str]]) -> Iterator[Any]:
    """A parameter for each raw op and dtype; where there is a gap the test has to fail."""
    reasons = {
        (op, name): reason
        for reason, table in gaps.items()
        for op, names in table.items()
        for name in names.split()
    }
    for op, dtype in pairs:
        reason = reasons.get((op, dtype.name))
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        yield pytest.param(op, dtype, marks=marks, id=f"{op}-{dtype.name}")
