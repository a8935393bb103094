"""Calling a composition with arrays: its results, computed by XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.runtime.scheduler import fetch


class Known(NamedTuple):
    """An array that the composition wants to know while recording."""

    array: np.ndarray


def lifted(x: Any) -> Any:
    """Arrays as leaves, also within lists and tuples; anything else as it is."""
    if isinstance(x, Known):
        return x.array
    if isinstance(x, np.ndarray):
        return ops.leaf(x)
    if type(x) in (list, tuple):
        return type(x)(map(lifted, x))
    return x


def nodes(function: Callable[..., Any], args: tuple[Any, ...], attrs: dict[str, Any]) -> list[Node]:
    """The results of a call, recorded."""
    made = function(*map(lifted, args), **{name: lifted(x) for name, x in attrs.items()})
    return list(made) if isinstance(made, tuple | list) else [made]


def call(function: Callable[..., Any], *args: Any, **attrs: Any) -> list[np.ndarray]:
    """The results of a call, computed."""
    return [np.asarray(fetch(node)) for node in nodes(function, args, attrs)]
