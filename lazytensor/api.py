"""Functions for arrays of all frontends: `sync`, `trace` and `programs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from lazytensor.core.buffers.interop import shown
from lazytensor.core.ir.node import Node
from lazytensor.core.runtime import scheduler, sharded
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.trace import automatic_cut
from lazytensor.inspection.program import Program

automatic_cut.install()


def sync(*arrays: Any, compile: bool = False) -> None:
    """Compute everything that this thread has pending, and `arrays`. It never changes results.

    compile: by compiled programs, which this call waits for. Else the host may compute, and nobody
    waits for a compiler (see `docs/performance.md`).
    """
    scheduler.sync(*(_nodes(arrays) if arrays else ()), compiles=compile)


def trace(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Program:
    """The Program of `function`'s result: printable, comparable, with `.stablehlo()`.

    args: lazy arrays (NumPy arrays become lazy ones) and anything else. The function is called
    once, and its results are not computed. During the call small arrays of this thread are lazy
    too. Raises: TypeError if the result holds no lazy array.
    """
    # Imported here, so that `import lazytensor` stays cheap.
    from lazytensor.frontends.numpy.host.bound import everything_lazy

    with everything_lazy():
        args = tuple(map(_lazy, args))
        kwargs = {name: _lazy(value) for name, value in kwargs.items()}
        scheduler.sync(*_nodes([args, kwargs]))
        result = function(*args, **kwargs)
    outputs = list(_nodes([result]))
    if not outputs:
        raise TypeError(f"trace: the function must return lazy arrays, got {type(result).__name__}")
    found = sharded.traced(outputs)
    found.note(None)
    return Program.of(found.program)


def programs(most: int = 10) -> list[Program]:
    """The last programs run, the most recent first: `programs()[0].show()`."""
    return [Program.of(entry.program) for entry in reversed(cache.entries()[-most:])]


def _lazy(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    from lazytensor.frontends.numpy.arrays.conversion import asarray

    return asarray(value)


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
