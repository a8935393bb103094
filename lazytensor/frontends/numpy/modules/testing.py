"""`numpy.testing` over lazy arrays: functions that compare values compute them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.functions.entry import Function, dressed, hosted
from lazytensor.frontends.numpy.host.fallback import lazies
from lazytensor.frontends.numpy.modules import rest_of

NAMES = (
    "assert_ assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal "
    "assert_array_almost_equal_nulp assert_array_equal assert_array_less assert_array_max_ulp "
    "assert_equal assert_string_equal print_assert_equal"
)

HOST: dict[str, Function] = {
    name: hosted(name, getattr(np.testing, name)) for name in NAMES.split()
}

RAISING = {"assert_raises": 1, "assert_raises_regex": 2}
"""Functions that call one of their arguments, and the position of that argument."""


def _computing(name: str, place: int) -> Function:
    """NumPy's function. The call also computes the callable's result, as that may raise."""
    real = getattr(np.testing, name)

    def check(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place and callable(args[place]):
            args = (*args[:place], _computed(args[place]), *args[place + 1 :])
        return real(*args, **kwargs)

    return dressed(check, real, laziness.COMPUTES_ARGUMENTS)


def _computed(function: Function) -> Function:
    def call(*args: Any, **kwargs: Any) -> None:
        for array in lazies(function(*args, **kwargs)):
            scheduler.observe(array.node)

    call.__name__ = call.__qualname__ = getattr(function, "__name__", "call")
    return call


globals().update(HOST)
globals().update({name: _computing(name, place) for name, place in RAISING.items()})


__getattr__, __dir__ = rest_of(np.testing, globals())
