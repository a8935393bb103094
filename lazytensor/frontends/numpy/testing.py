"""`numpy.testing` over lazy arrays: what compares values computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.functions.entry import Function, hosted

NAMES = (
    "assert_ assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal "
    "assert_array_almost_equal_nulp assert_array_equal assert_array_less assert_array_max_ulp "
    "assert_equal assert_string_equal print_assert_equal"
)

HOST: dict[str, Function] = {
    name: hosted(name, getattr(np.testing, name)) for name in NAMES.split()
}

globals().update(HOST)


def __getattr__(name: str) -> Any:
    return getattr(np.testing, name)


def __dir__() -> list[str]:
    return sorted({*dir(np.testing), *globals()})
