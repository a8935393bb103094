"""Iteration and callbacks element by element, which NumPy runs over computed values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.functions.entry import dressed
from lazytensor.frontends.numpy.host.fallback import called, real
from lazytensor.frontends.numpy.host.small import entered
from lazytensor.frontends.numpy.interop.sharing import opened


class vectorize(np.vectorize):
    """See numpy.vectorize."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = {key: real(value) for key, value in kwargs.items()}
        return entered(called(super().__call__, [*map(real, args)], given))


class IteratorType(type):
    """NumPy's own iterators are instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.nditer)


class nditer(metaclass=IteratorType):
    """Cuts the graph: NumPy iterates over the memory of the arrays.

    See numpy.nditer.
    """

    def __new__(cls, op: Any, *args: Any, **kwargs: Any) -> Any:
        return called(np.nditer, (opened(op), *args), kwargs)


def nested_iters(op: Any, *args: Any, **kwargs: Any) -> Any:
    """See numpy.nested_iters."""
    return called(np.nested_iters, (opened(op), *args), kwargs)


OBJECTS: dict[str, Any] = {
    "nditer": nditer,
    "nested_iters": dressed(nested_iters, np.nested_iters, laziness.COMPUTES_ARGUMENTS),
    "vectorize": vectorize,
}
