"""More calls of compositions: of matrices' factors, indices, bins, and whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import (
    arranging,
    complexes,
    diagonals,
    embeddings,
    factor_faults,
    grouped_products,
    histograms,
    matrices,
    normalization,
    numerics,
    pooling,
    quantiles,
    ranking,
    scattering,
    signal,
    special,
)
from lazytensor.core.lib.pool_gradients import PoolWindows
from tests.lib.samples import NAN, POSITIVE, A, B, C, S, V, ints, x

LOWER = np.linalg.cholesky(POSITIVE)
ZERO_PIVOT = np.stack([np.array([[1.0, 2.0], [2.0, 4.0]]), np.eye(2)])
BAD_MINOR = np.stack([np.array([[4.0, 2.0], [2.0, -1.0]]), np.array([[-1.0, 0.0], [0.0, 1.0]])])
EDGES = np.linspace(-2.0, 2.0, 9)
ENDS = np.array([2, 2, 5], np.int32)
FLAGS = A > 0


def rebuilt(x: Node) -> Node:
    """The product of all that `lu` gives."""
    packed, swaps, _ = ops.lu(x)
    lower, upper = matrices.lu_triangles(packed)
    turned = matrices.permutation_matrix(swaps, x.type.shape[-1], x)
    return matrices.product(turned, matrices.product(lower, upper))


def solved(x: Node, right: Node) -> Node:
    """Systems of equations by `lu`."""
    packed, swaps, _ = ops.lu(x)
    return matrices.solved_by_lu(packed, swaps, right, True)


def determinant(x: Node) -> Node:
    """Determinants by `lu`."""
    packed, swaps, _ = ops.lu(x)
    return matrices.determinant_by_lu(packed, swaps)


def to_batch_and_back(x: Node) -> Node:
    """Two functions that are inverses."""
    return arranging.batch_to_space(arranging.space_to_batch(x, (2, 3)), (2, 3))


def to_depth_and_back(x: Node) -> Node:
    """Two functions that are inverses."""
    return arranging.depth_to_space(arranging.space_to_depth(x, 2), 2)


def minors(x: Node, ok: Node) -> Node:
    """Of lower triangles, the order of the first minor that is not positive."""
    return factor_faults.first_bad_minor(x, ok, False)


def _written(x: np.ndarray, key: Any, value: Any) -> np.ndarray:
    made = x.copy()
    made[key] = value
    return made


def _grouped(x: np.ndarray, y: np.ndarray, ends: np.ndarray) -> np.ndarray:
    made, start = np.zeros((len(x), y.shape[-1])), 0
    for matrix, end in zip(y, ends, strict=True):
        made[start:end] = x[start:end] @ matrix
        start = max(start, end)
    return made


def _grouped_sums(x: np.ndarray, y: np.ndarray, ends: np.ndarray) -> np.ndarray:
    starts = [0, *ends[:-1]]
    return np.stack([x[a:b].T @ y[a:b] for a, b in zip(starts, ends, strict=True)])


def _histogram_bins(values: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inside = (values >= edges[0]) & (values <= edges[-1])
    places = np.clip(np.searchsorted(edges, values, "right") - 1, 0, len(edges) - 2)
    return places, inside


def _capped(table: np.ndarray, rows: np.ndarray, most: float, p: float) -> np.ndarray:
    norms = np.linalg.norm(table, p, axis=1)
    factor = np.where(norms > most, most / (norms + 1e-7), 1.0)
    factor[np.setdiff1d(np.arange(len(table)), rows)] = 1.0
    return table * factor[:, None]


CALLS: list[tuple[Any, tuple[Any, ...], Any]] = [
    (rebuilt, (S,), lambda a: a),
    (solved, (S, x(2, 3, 2)), np.linalg.solve),
    (determinant, (S,), np.linalg.det),
    (matrices.solved_by_cholesky, (LOWER, S, False), lambda f, b, _: np.linalg.solve(POSITIVE, b)),
    (matrices.triangle, (S, True, 1), lambda a, _, k: np.triu(a, k)),
    (matrices.first_zero, (ZERO_PIVOT - [[0, 0], [0, 4]],), lambda a: np.array([2, 0], np.int32)),
    (factor_faults.first_zero_pivot, (ZERO_PIVOT, np.array([False, True])),
     lambda a, ok: np.array([2, 0], np.int32)),
    (minors, (BAD_MINOR, np.array([False, False])), lambda a, ok: np.array([2, 1], np.int32)),
    (diagonals.with_last_diagonal, (S, x(2, 2), 1),
     lambda a, line, k: _written(a, (slice(None), [0, 1], [1, 2]), line)),
    (arranging.cropped, (S, (0, 1, 1), (2, 2, 1)), lambda a, *_: a[:2, 1:3, 1:2]),
    (arranging.at_points, (S, [ints(2, 4), ints(3, 4)]), lambda a, p: a[p[0], p[1]]),
    (arranging.at_points, (np.array(2.5), [np.array([0])]), lambda a, p: a[None]),
    (arranging.with_points, (S, [np.array([1, 0])], x(2, 3, 3)),
     lambda a, p, v: _written(a, p[0], v)),
    (to_batch_and_back, (x(2, 4, 6, 3),), lambda a: a),
    (to_depth_and_back, (x(2, 4, 6, 3),), lambda a: a),
    (complexes.extreme, (C, (1,), True), lambda a, *_: a.max(1)),
    (complexes.extreme, (C, (0, 1), False), lambda a, *_: a.min()),
    (complexes.clamp, (np.array(-0.5j), C, np.array(0.5 + 0j)),
     lambda low, a, high: np.clip(a, low, high)),
    (embeddings.divided_by_sizes, (A, np.array([2, 0, 1, 3])),
     lambda a, n: a / np.maximum(n, 1)[:, None]),
    (embeddings.rows_within_norm, (A * 3, np.array([0, 2]), 1.0, 2.0), _capped),
    (grouped_products.grouped_product, (x(7, 3), x(3, 3, 2), ENDS), _grouped),
    (grouped_products.grouped_sum_of_products, (x(7, 3), x(7, 2), ENDS), _grouped_sums),
    (histograms.bin_of_even, (x(60), EDGES), _histogram_bins),
    (histograms.bin_of, (x(60), EDGES), _histogram_bins),
    (histograms.widths, (EDGES,), np.diff),
    (histograms.over_widths, (A, [np.arange(5.0) ** 2, np.arange(4.0) + 1]),
     lambda a, e: a / np.diff(e[0])[:, None] / np.diff(e[1])),
    (normalization.moved_statistic, (V, x(6), 0.3), lambda old, new, m: old * 0.7 + new * 0.3),
    (normalization.unbiased, (V, 5), lambda v, n: v * 1.25),
    (numerics.matvec, (S, x(2, 3)), lambda a, v: (a @ v[..., None])[..., 0]),
    (numerics.vecmat, (x(2, 3), S), lambda v, a: (v[..., None, :] @ a)[..., 0, :]),
    (numerics.bitwise_count, (ints(99, 5) - 40,), lambda a: np.bitwise_count(a).astype(a.dtype)),
    (numerics.integer_power, (ints(5, 4), np.array([0, 1, 2, 3])), np.power),
    (numerics.integer_reciprocal, (np.array([1, -1, 2, 7]),), np.reciprocal),
    (numerics.complex_rint, (C * 3,), np.rint), (numerics.ldexp, (V, ints(5, 6)), np.ldexp),
    (numerics.power, (np.abs(V), x(6)), np.power),
    (pooling.max_unpool, (x(2, 2), np.array([[0, 3], [4, 1]]), (5,)),
     lambda a, p, _: _written(np.zeros((2, 5)), ([[0], [1]], p), a)),
    (quantiles.at_ranks_with_last, (NAN, (0, 1)),
     lambda a, _: (np.sort(a)[:, :2], np.sort(a)[:, -1:])),
    (ranking.first_ordered, (A, 2, 1, True),
     lambda a, n, axis, _: (-np.sort(-a)[:, :n], np.argsort(-a)[:, :n])),
    (ranking.running_extreme, (ops.cummax, A, 0),
     lambda op, a, axis: (m := np.maximum.accumulate(a, axis),
                          np.array([[a[: i + 1, j].argmax() for j in range(3)] for i in range(4)])
                          .reshape(m.shape))),
    (ranking.interpolated, (A, B, np.linspace(0, 1, 3)), lambda a, b, s: a + (b - a) * s),
    (scattering.masked_scatter, (A, FLAGS, x(12)),
     lambda a, f, v: _written(a, f, v[: f.sum()])),
    (scattering.masked_scatter_gradient, (A, FLAGS, (12,)),
     lambda g, f, n: np.concatenate([g[f], np.zeros(12 - f.sum())])),
    (signal.interpolated_line, (x(4), np.sort(V), x(6), np.array(-9.0), np.array(9.0)),
     lambda at, xp, fp, low, high: np.interp(at, xp, fp, low, high)),
    (signal.spaced, (np.array(1.0), np.array(2.0), np.array(0.25), 5, True),
     lambda a, b, s, n, _: np.linspace(a, b, n)),
    (special.from_polar, (np.abs(V), x(6)), lambda r, t: r * np.exp(1j * t)),
    (numerics.Comparison(ops.less), (ints(3, 4) - 1, ints(3, 4).astype(np.uint64)), np.less),
]  # fmt: skip
WINDOW_COUNTS = [
    ((7, 6), PoolWindows((3, 2), (1, 1), (2, 2), (1, 0)), False, (4, 3)),
    ((7, 6), PoolWindows((3, 3), (2, 1), (2, 4), (0, 1)), True, (2, 2)),
]
