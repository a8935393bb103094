"""Distances between the rows of matrices, and the gradients."""

from __future__ import annotations

from typing import Any

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.distances import (
    pair_distances,
    pair_distances_gradient,
    row_distances,
    row_distances_gradient,
)
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row


def _cdist(x: Node, y: Node, p: float, compute_mode: Any) -> Node:
    require(p >= 0)
    return pair_distances(x, y, p)


ROWS: dict[str, Row] = {
    "_cdist_forward": _cdist,
    "_cdist_backward": pair_distances_gradient,
    "_pdist_forward": row_distances,
    "_pdist_backward": row_distances_gradient,
}


rows(of_nodes(ROWS), composed=True, asks=True)
