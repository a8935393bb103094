"""Iteration and calling back element by element: it is done over values, which are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.array import Lazy
from lazytensor.frontends.numpy.assignment import assign
from lazytensor.frontends.numpy.fallback import called, real
from lazytensor.frontends.numpy.functions.entry import entered, has_lazy
from lazytensor.frontends.numpy.functions.writing import check_writeable


class vectorize(np.vectorize):
    """See numpy.vectorize."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = {key: real(value) for key, value in kwargs.items()}
        return entered(called(super().__call__, [*map(real, args)], given))


class WritingIterator:
    """NumPy's nditer over copies of lazy arrays, which get what is written at its end."""

    def __init__(self, arrays: list[Any], *args: Any, **kwargs: Any) -> None:
        self._written: list[tuple[Any, np.ndarray]] = []
        self._real: Any = np.nditer([self._copy(x) for x in arrays], *args, **kwargs)

    def _copy(self, x: Any) -> Any:
        if not isinstance(x, Lazy):
            return x
        check_writeable(x)
        buffer = np.array(real(x))
        self._written.append((x, buffer))
        return buffer

    def close(self) -> None:
        """Write back."""
        self._real.close()
        for array, buffer in self._written:
            assign(array.ref, buffer)
        self._written = []

    def __enter__(self) -> WritingIterator:
        self._real.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> WritingIterator:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._real)
        except StopIteration:
            self.close()
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class IteratorType(type):
    """NumPy's own iterators, and those that write back, are instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.nditer | WritingIterator)


class nditer(metaclass=IteratorType):
    """Cuts the graph: NumPy computes it; arrays that it gives are lazy again.

    See numpy.nditer.
    """

    def __new__(
        cls, op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        if not has_lazy(op):
            return called(np.nditer, (op, flags, op_flags, *args), kwargs)
        flagged = [[item] if type(item) is str else item for item in op_flags or ()]
        if any(word in ("readwrite", "writeonly") for item in flagged for word in item):
            arrays = list(op) if isinstance(op, list | tuple) else [op]
            return WritingIterator(arrays, flags, op_flags, *args, **kwargs)
        return np.nditer(real(op), flags, op_flags, *args, **kwargs)


OBJECTS: dict[str, Any] = {"nditer": nditer, "vectorize": vectorize}
