"""What a user calls on the core: `sync`, `trace` and `programs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.interop import shown
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program, cut, reachable
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.program_cache import cache

ARRAYS: Final = "lazytensor.numpy"
"""What makes a NumPy array lazy; a frontend, and so named by a string."""
BOUND: Final = "lazytensor.frontends.numpy.bound"
"""What keeps small arrays lazy while a function is traced."""


def sync(*arrays: Any) -> None:
    """Compute everything that this thread has pending, and `arrays`. Results never need it."""
    scheduler.sync(*(_nodes(arrays) if arrays else ()))


def trace(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Program:
    """The Program of `function`'s result: printable, comparable, with `.stablehlo()`.

    args: lazy arrays (NumPy arrays become lazy ones) and anything else. The function is called
    once, and its results are not computed. Meanwhile arrays of this thread are lazy, however small.
    Raises: TypeError if the result holds no lazy array.
    """
    with import_module(BOUND).everything_lazy():
        args = tuple(map(_lazy, args))
        kwargs = {name: _lazy(value) for name, value in kwargs.items()}
        scheduler.sync(*_nodes([args, kwargs]))
        result = function(*args, **kwargs)
    outputs = list(_nodes([result]))
    if not outputs:
        raise TypeError(f"trace: the function must return lazy arrays, got {type(result).__name__}")
    found = cut(reachable(outputs), outputs)
    found.note(None)
    return found.program


def programs(most: int = 10) -> list[Program]:
    """The programs run last, the last first: `programs()[0].show()`."""
    return [entry.program for entry in reversed(cache.entries()[-most:])]


def _lazy(value: Any) -> Any:
    # By name, as the backend: the core knows no frontend.
    return import_module(ARRAYS).asarray(value) if isinstance(value, np.ndarray) else value


def _nodes(value: Any) -> Iterator[Node]:
    """The nodes of the lazy arrays in nested tuples, lists and dicts."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, Mapping):
        yield from _nodes(list(value.values()))
    elif isinstance(node := getattr(value, "node", None), Node):
        yield node
    elif (offer := shown(value)) is not None:
        yield offer.node
