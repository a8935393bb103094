"""What a function gives back: a new array or lazy scalar, or `out` with the result written to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import runtime
from lazytensor.core.node import Node
from lazytensor.frontends.numpy.array import Lazy, wrap_result
from lazytensor.frontends.numpy.promotion import convert


def deliver(node: Node, out: Any = None, casting: str = "same_kind") -> Any:
    """`node` as NumPy would return it, or written to `out`."""
    if out is None:
        return wrap_result(node)
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if not isinstance(out, np.ndarray) and not issubclass(type(out), Lazy):
        raise TypeError("return arrays must be of ArrayType")
    if out.shape != node.type.shape:
        raise ValueError(
            f"output array has shape {out.shape}, but a result of shape {node.type.shape} "
            "is to be written to it"
        )
    check_cast(node.type.dtype, out.dtype, casting)
    if not issubclass(type(out), Lazy):
        out[...] = runtime.observe(node).astype(out.dtype)
        return out
    out.ref.write(convert(node, out.dtype))
    return out


def check_cast(given: Any, wanted: np.dtype, casting: str = "same_kind") -> None:
    """Raise NumPy's error unless `given` may be written as `wanted`."""
    if not np.can_cast(given, wanted, casting=casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast array data from {given!r} to {wanted!r} according to the rule "
                        f"{casting!r}")
