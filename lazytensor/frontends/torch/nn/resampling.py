"""Linear maps of spatial axes, each axis by a matrix: resizing, adaptive means, edges repeated.

A gradient is the transposed matrices'. What torch resizes forward without antialiasing comes from
its decompositions, which read only the elements they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.resampling import Matrix, adaptive_means, mapped, picking, resize_matrix
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row


def _plan(kind: str, inner: Any, outer: Any, rest: Sequence[Any]) -> list[Matrix]:
    """The matrix of each axis; `rest`: whether corners are aligned, where torch asks; scales."""
    aligned = bool(rest) and isinstance(rest[0], bool)
    scales = [*(rest[1:] if aligned else rest), *[None] * len(outer)]
    align = rest[0] if aligned else False
    sizes = zip(inner, outer, scales, strict=False)
    return [resize_matrix(kind, n, m, align, scale) for n, m, scale in sizes]


def _resized(kind: str) -> Row:
    def row(x: Node, output_size: Sequence[int], *rest: Any) -> Node:
        inner = x.type.shape[-len(output_size) :]
        return mapped(x, _plan(kind, inner, output_size, rest))

    return row


def _resized_backward(kind: str) -> Row:
    def row(grad: Node, output_size: Sequence[int], input_size: Sequence[int], *rest: Any) -> Node:
        matrices = _plan(kind, input_size[-len(output_size) :], output_size, rest)
        return mapped(grad, [matrix.T for matrix in matrices])

    return row


def _adaptive_mean(x: Node, output_size: Sequence[int]) -> Node:
    n = len(output_size)
    require(x.type.ndim in (n + 1, n + 2))
    inner = x.type.shape[-n:]
    return mapped(x, [adaptive_means(n, m) for n, m in zip(inner, output_size, strict=True)])


def require_windows(grad: Node) -> None:
    """Refuse the gradient of no windows."""
    require(0 not in grad.type.shape[1:])


def _adaptive_mean_backward(n: int) -> Row:
    def row(grad: Node, x: Node) -> Node:
        inner = x.type.shape[-n:]
        require_windows(grad)
        sizes = zip(inner, grad.type.shape[-n:], strict=True)
        return mapped(grad, [adaptive_means(a, b).T for a, b in sizes])

    return row


def _edges_backward(grad: Node, x: Node, padding: Sequence[int]) -> Node:
    """The gradient of padding with the element at the edge; torch counts axes from the last."""
    count = len(padding) // 2
    inner = x.type.shape[-count:]
    pads = [padding[2 * i : 2 * i + 2] for i in reversed(range(count))]
    matrices = [
        picking(n + low + high, n, np.arange(n + low + high) - low).T
        for n, (low, high) in zip(inner, pads, strict=True)
    ]
    return mapped(grad, matrices)


ROWS: dict[str, Row] = {
    "_upsample_bilinear2d_aa": _resized("linear_aa"),
    "_upsample_bicubic2d_aa": _resized("cubic_aa"),
    "_upsample_bilinear2d_aa_backward": _resized_backward("linear_aa"),
    "_upsample_bicubic2d_aa_backward": _resized_backward("cubic_aa"),
    "upsample_linear1d_backward": _resized_backward("linear"),
    "upsample_bilinear2d_backward": _resized_backward("linear"),
    "upsample_trilinear3d_backward": _resized_backward("linear"),
    "upsample_bicubic2d_backward": _resized_backward("cubic"),
    **{f"upsample_nearest{n}d_backward": _resized_backward("nearest") for n in (1, 2, 3)},
    **{
        f"_upsample_nearest_exact{n}d_backward": _resized_backward("nearest_exact")
        for n in (1, 2, 3)
    },
    "_adaptive_avg_pool2d": _adaptive_mean,
    "_adaptive_avg_pool3d": _adaptive_mean,
    "_adaptive_avg_pool2d_backward": _adaptive_mean_backward(2),
    "_adaptive_avg_pool3d_backward": _adaptive_mean_backward(3),
    **{f"replication_pad{n}d_backward": _edges_backward for n in (1, 2, 3)},
}


rows(of_nodes(ROWS), images=True, composed=True, asks=True)
