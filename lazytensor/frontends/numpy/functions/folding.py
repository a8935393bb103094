"""Reductions of segments, for `reduceat`."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless


def by_segment(node: Node, places: np.ndarray, axis: int, mode: str) -> Node:
    """The elements along `axis`, combined from each of `places` up to the next.

    `mode` as in `scatter`. Raises: HostOnly; Unsupported for places that do not rise.
    """
    n = node.type.shape[axis]
    if places.ndim != 1 or not places.size or (np.diff(places) <= 0).any():
        raise Unsupported("reduceat: indices that do not rise")
    refuse_unless(places[0] >= 0 and places[-1] < n)
    heads = leaf(places.astype(np.int64))
    return ops.reduce_segments(node, heads, axis=axis, mode=mode)
