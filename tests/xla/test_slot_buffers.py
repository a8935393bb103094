"""Slots of several dtypes in one buffer: each comes out of it with its bits."""

from __future__ import annotations

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, COMPLEX, F16, F32, F64, INTS
from lazytensor.core.ir.op import varying
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings

DTYPES = sorted([BOOL, *INTS, F16, BF16, F32, F64, *COMPLEX], key=str)
NUMBERS = {"b": True, "i": -7, "u": 60, "f": -0.0, "V": 1.5, "c": 2.0 - 3.0j}


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")


def test_every_dtype_keeps_its_bits(moved: dict[str, int]) -> None:
    for run in range(1, 4):
        values = [
            np.array(NUMBERS[dtype.kind], dtype) * (run + 1 if dtype != BOOL else 1)
            for dtype in DTYPES
        ]
        nodes = [
            ops.reshape(ops.broadcast(varying(value.item(), value.dtype), shape=(2, 3)), shape=(6,))
            for value in values
        ]
        moved.clear()
        sync(*nodes)
        assert moved["up"] == 1
        for node, value in zip(nodes, values, strict=True):
            assert fetch(node).tobytes() == np.full(6, value).tobytes(), value.dtype


def test_one_dtype_goes_up_as_it_is(moved: dict[str, int]) -> None:
    x = ops.leaf(np.ones(3))
    sync(found := ops.add(x, varying(2.5, F64)))
    assert (moved["up"], moved["up bytes"]) == (2, 24 + 8)
    assert fetch(found).tolist() == [3.5] * 3
