"""Codes of basic keys, compiled and in Python: equal exactly for equal keys."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lazytensor.core.ops.basic_key import encoded

_FAR = 2**80
BASIC: list[Any] = [
    0,
    1,
    -1,
    None,
    ...,
    slice(None),
    slice(0, None),
    slice(None, 0),
    slice(None, None, 1),
    slice(1, 2),
    slice(1, 2, 3),
    slice(2, 1),
    slice(-_FAR, _FAR),
    (),
    (0, 1),
    (1, 0),
    (0, None),
    (slice(0, 1),),
    (slice(0), 1),
    (slice(0, 1), slice(None)),
    (slice(None), slice(0, 1)),
    (..., 0),
    (0, ...),
    (None, None),
    (0,) * 64,
    (0,) * 64 + (None,) * 64 + (...,),
]
"""No two of them select alike."""
OTHERS: list[Any] = [
    True,
    1.0,
    "a",
    np.int64(1),
    [0],
    np.arange(2),
    slice(1.0),
    slice("a"),
    slice(True),
]


def _anew(key: Any) -> Any:
    """An equal key of other objects."""
    if type(key) is tuple:
        return tuple(map(_anew, key))
    return slice(key.start, key.stop, key.step) if type(key) is slice else key


def test_equal_keys_have_equal_codes() -> None:
    assert [encoded(_anew(key), 7) for key in BASIC] == [encoded(key, 7) for key in BASIC]


def test_other_keys_have_other_codes() -> None:
    codes = [encoded(key, number) for key in BASIC for number in (0, 1)]
    assert None not in codes
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_other_items_have_no_code(other: Any) -> None:
    assert encoded(other) is None
    for at, rest in itertools.product(range(2), BASIC[:6]):
        assert encoded((rest, other) if at else (other, rest)) is None


def test_a_key_of_one_item_is_a_tuple_of_it() -> None:
    assert [encoded(item) for item in BASIC[:13]] == [encoded((item,)) for item in BASIC[:13]]
