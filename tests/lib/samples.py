"""Calls of compositions, and what NumPy or SciPy give for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # type: ignore[import-untyped]
import scipy.spatial.distance  # type: ignore[import-untyped]
import scipy.special  # type: ignore[import-untyped]

from lazytensor.core.lib import (
    activations,
    arranging,
    complexes,
    diagonals,
    distances,
    einsum,
    embeddings,
    fourier,
    histograms,
    linear_algebra,
    losses,
    manipulation,
    matrices,
    normalization,
    numerics,
    polynomials,
    pooling,
    quantiles,
    ranking,
    resampling,
    signal,
    special,
    spectral,
    statistics,
)
from tests.lib.compute import Known

_random = np.random.default_rng(7)


def x(*shape: int) -> np.ndarray:
    """Numbers around 0."""
    return _random.standard_normal(shape)


def ints(high: int, *shape: int) -> np.ndarray:
    """Whole numbers from 0 on."""
    return _random.integers(0, high, shape)


class Sample(NamedTuple):
    """A call, and the function of arrays that gives the same."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    reference: Callable[..., Any]
    attrs: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """`module.function`."""
        module = self.function.__module__.rpartition(".")[2]
        return f"{module}.{self.function.__name__}"


A, B, V, W = x(4, 3), x(4, 3), x(6), x(5)
S = x(2, 3, 3)
POSITIVE = S @ S.transpose(0, 2, 1) + 3 * np.eye(3)
C = x(2, 5) + 1j * x(2, 5)
NAN = np.where(x(4, 5) > 0.7, np.nan, x(4, 5))


def _softmax_loss(logits: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    logs = scipy.special.log_softmax(logits, 1)
    return -(target * logs).sum(1), np.exp(logs) - target


def _huber(apart: np.ndarray, delta: float) -> np.ndarray:
    return np.asarray(scipy.special.huber(delta, apart))


def _same_name(module: Any, of: Any, calls: dict[str, Any]) -> list[Sample]:
    """Functions that NumPy has under the same name."""
    return [
        Sample(getattr(module, name), args, getattr(of, name.rstrip("_")), attrs)
        for name, rows in calls.items()
        for args, attrs in rows
    ]


MOVED = _same_name(manipulation, np, {
    "reshape": [((A, (2, -1)), {})],
    "permute_dims": [((S, (2, 0, 1)), {})],
    "moveaxis": [((S, 0, -1), {}), ((S, (0, 1), (2, 0)), {})],
    "expand_dims": [((A, 1), {}), ((A, -1), {})],
    "squeeze": [((A[:, None], 1), {})],
    "flip": [((A,), {}), ((A,), {"axis": 0}), ((A,), {"axis": (0, -1)})],
    "roll": [((A, 2), {}), ((A, (1, -2)), {"axis": (0, 1)})],
    "tile": [((A, (2, 1, 3)), {}), ((S, (2,)), {})],
    "concat": [(([A, B],), {}), (([A, B],), {"axis": -1}), (([A, V],), {"axis": None})],
    "stack": [(([A, B],), {}), (([A, B],), {"axis": -1})],
    "unstack": [((A,), {}), ((A,), {"axis": 1})],
    "broadcast_to": [((V, (2, 6)), {})],
    "broadcast_arrays": [((A[:, :1], A), {})],
    "meshgrid": [((V, W), {}), ((V, W, A[0]), {"indexing": "ij"})],
    "tril": [((S,), {}), ((A,), {"k": 1})],
    "triu": [((S,), {}), ((A,), {"k": -1})],
    "sort": [((A,), {}), ((NAN,), {"axis": 0})],
    "argsort": [((A,), {}), ((NAN,), {"axis": 0})],
    "searchsorted": [((np.sort(V), W), {}), ((np.sort(V), W), {"side": "right"})],
    "take": [((A, ints(3, 5)), {"axis": 1}), ((A, np.array([-1, 2])), {"axis": 0})],
    "take_along_axis": [((A, ints(4, 2, 3)), {"axis": 0})],
    "diff": [((A,), {}), ((A,), {"axis": 0, "n": 2}), ((V,), {"prepend": W})],
    "clip": [((A, -0.5, 0.5), {}), ((A, None, np.float64(0.2)), {})],
})  # fmt: skip
REDUCED = _same_name(statistics, np, {
    name: [((A,), {}), ((S,), {"axis": 1, "keepdims": True}), ((S,), {"axis": (0, -1)})]
    for name in ("sum", "prod_", "max", "min", "mean", "all", "any", "count_nonzero", "var", "std")
} | {name: [((A,), {}), ((A,), {"axis": 1, "keepdims": True})] for name in ("argmax", "argmin")}
  | {"cumulative_sum": [((V,), {}), ((A,), {"axis": 1, "include_initial": True})],
     "cumulative_prod": [((V,), {}), ((A,), {"axis": 0, "include_initial": True})]})  # fmt: skip
ALGEBRA = _same_name(linear_algebra, np.linalg, {
    "matmul": [((A, S), {}), ((A, x(3)), {})], "matrix_transpose": [((S,), {})],
    "vecdot": [((A, B), {}), ((A, B), {"axis": 0})], "outer": [((V, W), {})],
    "tensordot": [((S, A), {"axes": ((1,), (1,))}), ((A.T, A), {"axes": 1})],
    "cross": [((A, B), {}), ((A.T, B.T), {"axis": 0})], "diagonal": [((S,), {"offset": 1})],
    "trace": [((S,), {}), ((S,), {"offset": -1})], "cholesky": [((POSITIVE,), {})],
    "svdvals": [((S,), {})], "eigvalsh": [((POSITIVE,), {})], "slogdet": [((S,), {})],
    "det": [((S,), {})], "inv": [((S,), {})],
    "solve": [((POSITIVE, S), {}), ((POSITIVE[0], x(3)), {})], "pinv": [((A,), {})],
    "matrix_rank": [((np.ones((2, 3, 3)),), {}), ((A,), {})],
    "matrix_power": [((S, 3), {}), ((S, -2), {}), ((S, 0), {})],
    "vector_norm": [((A,), {"ord": p}) for p in (0, 1, 2, 3, np.inf, -np.inf)],
    "matrix_norm": [((S,), {"ord": p}) for p in ("fro", "nuc", 1, -1, 2, -2, np.inf)],
})  # fmt: skip
TRANSFORMED = _same_name(fourier, np.fft, {
    **{name: [((C,), {"norm": norm}) for norm in ("backward", "ortho", "forward")]
       for name in ("fft", "ifft", "irfft", "hfft")},
    **{name: [((A,), {"n": 5, "axis": 0})] for name in ("rfft", "ihfft")},
    "fftn": [((C,), {})], "ifftn": [((C,), {"s": (3, 4), "axes": (0, 1)})],
    "rfftn": [((S,), {})], "irfftn": [((C,), {"s": (2, 6), "axes": (0, 1)})],
    "fftshift": [((A,), {})], "ifftshift": [((A,), {"axes": 1})],
})  # fmt: skip
OTHERS = [
    Sample(arranging.repeated, (A, 3, 1), lambda a, n, axis: np.repeat(a, n, axis)),
    Sample(arranging.rolled, (A, -2, 1), np.roll),
    Sample(arranging.split, (A, (1, 3), 0), lambda a, n, axis: np.split(a, [1], axis)),
    Sample(arranging.picked, (V, Known(np.array([0, 2, 4, 1, 1])), 0), lambda a, i, _: a[i.array]),
    Sample(arranging.fitted, (A, 1, 5), lambda a, axis, n: np.pad(a, ((0, 0), (0, 2)))),
    Sample(arranging.fitted, (A, 0, 2), lambda a, axis, n: a[:2]),
    *[Sample(arranging.padded_with_itself, (A, ((1, 2), (0, 1)), mode),
             lambda a, pairs, mode: np.pad(a, pairs, mode))
      for mode in ("edge", "reflect", "symmetric", "wrap")],
    Sample(arranging.depth_to_space, (x(1, 2, 2, 8), 2),
           lambda a, b: np.moveaxis(a.reshape(1, 2, 2, 2, 2, 2), 3, 2).reshape(1, 4, 4, 2)),
    Sample(diagonals.on_diagonal, (V, 2), np.diag),
    Sample(diagonals.on_diagonals, (A, np.array(0.0)),
           lambda a, _: a[..., None] * np.eye(a.shape[-1])),
    Sample(einsum.einsum, ([A, A], ["ij", "kj"], "ik"), lambda xs, *_: xs[0] @ xs[1].T),
    Sample(einsum.einsum, ([S], ["nii"], "n"), lambda xs, *_: np.einsum("nii->n", xs[0])),
    Sample(matrices.product, (S, A.T[None]), np.matmul),
    Sample(matrices.adjoint, (S + 1j,), lambda a: a.conj().swapaxes(-1, -2)),
    Sample(matrices.exponential, (S / 3,), scipy.linalg.expm),
    Sample(distances.pair_distances, (A, x(5, 3), 1.5),
           lambda a, b, p: scipy.spatial.distance.cdist(a, b, "minkowski", p=p)),
    Sample(distances.row_distances, (A, 3.0),
           lambda a, p: scipy.spatial.distance.pdist(a, "minkowski", p=p)),
    Sample(embeddings.rows_added, (3, A, np.array([0, 2, 0, 1])),
           lambda n, a, i: np.stack([a[i == k].sum(0) for k in range(n)])),
    Sample(histograms.even_edges, (np.array(-1.0), np.array(3.0), 7),
           lambda a, b, n: np.linspace(a, b, n + 1)),
    Sample(histograms.counted_evenly, (x(50), np.array(-1.0), np.array(1.0), 6),
           lambda a, low, high, n: np.histogram(a, n, (low, high))[0]),
    Sample(histograms.joint_histogram, ([x(40), x(40)], [np.arange(-2.0, 3), np.arange(-1.0, 2)],
                                        None),
           lambda xs, edges, _: np.histogramdd(xs, edges)[0].astype(np.int64)),
    Sample(losses.huber, (A, 0.7), _huber),
    Sample(losses.cross_entropy, (A, np.full((4, 3), 1 / 3)), _softmax_loss),
    Sample(losses.sparse_cross_entropy, (A, ints(3, 4)),
           lambda a, i: _softmax_loss(a, np.eye(3)[i])),
    Sample(losses.one_hot, (ints(3, 4), 3, 1), lambda i, n, _: np.eye(n, dtype=bool)[i]),
    Sample(numerics.modf, (A * 3,), np.modf), Sample(numerics.spacing, (A,), np.spacing),
    Sample(numerics.floor_divide, (A, B), np.floor_divide),
    Sample(numerics.vecdot, (A + 1j, B - 1j), np.vecdot),
    Sample(complexes.LARGER, (C, C[::-1].copy()), np.maximum),
    Sample(special.log_add_exp, (A, B), np.logaddexp),
    Sample(special.running_log_sum_exp, (A, 0), lambda a, axis: np.logaddexp.accumulate(a, axis)),
    Sample(special.log_sum_exp, (S, (1,)), lambda a, axes: scipy.special.logsumexp(a, axes)),
    Sample(special.x_log_y, (np.abs(A), np.abs(B)), scipy.special.xlogy),
    Sample(special.rounded, (A * 100, -1), np.round), Sample(special.rounded, (A, 2), np.round),
    Sample(special.angle, (C,), np.angle), Sample(special.step_at_zero, (A, B), np.heaviside),
    Sample(special.finite, (np.array([1.0, np.nan, np.inf]), 2.0, 8.0, -8.0),
           lambda a, nan, high, low: np.nan_to_num(a, nan=nan, posinf=high, neginf=low)),
    Sample(quantiles.at_ranks, (A, (0, 2)), lambda a, ranks: np.sort(a)[..., list(ranks)]),
    Sample(ranking.is_in, (ints(9, 4, 3), ints(9, 4)), np.isin),
    Sample(ranking.true_places, (ints(2, 3, 4), 20, -1),
           lambda a, n, f: np.concatenate([np.argwhere(a), np.full((n - a.sum(), 2), f)])),
    Sample(ranking.unraveled, (ints(24, 5), (2, 3, 4)), np.unravel_index),
    Sample(ranking.repeated_places, (np.array([2, 0, 3]), 5),
           lambda n, _: np.repeat(np.arange(3), n)),
    Sample(ranking.mode, (ints(3, 2, 30), 1),
           lambda a, _: (m := np.array([np.bincount(r).argmax() for r in a]),
                         np.array([np.flatnonzero(a[i] == v)[-1] for i, v in enumerate(m)]))),
    Sample(ranking.lower_median, (x(3, 5), 1, False),
           lambda a, axis, _: (np.median(a, axis), np.argsort(a, axis)[:, 2])),
    Sample(signal.spaced_from_both_ends, (np.array(-1.0), np.array(2.0), np.array(0.5), 7),
           lambda a, b, _, n: np.linspace(a, b, n)),
    Sample(signal.central_slopes, (A, np.array(0.5), np.array(1.0), 0),
           lambda a, d, _, axis: np.gradient(a, d, axis=axis)),
    Sample(signal.slid_products, (V, W, 4, 4), lambda a, b, *_: np.correlate(a, b, "full")),
    Sample(spectral.fourier, (C, "IFFT", (5,), (1,)), lambda a, *_: np.fft.ifft(a)),
    Sample(resampling.mapped, (A, [Known(x(2, 4)), Known(x(5, 3))]),
           lambda a, ms: ms[0].array @ a @ ms[1].array.T),
    Sample(pooling.adaptive_max_pool, (x(2, 4), (2,)),
           lambda a, _: (a.reshape(2, 2, 2).max(-1),
                         a.reshape(2, 2, 2).argmax(-1) + np.array([0, 2]))),
    Sample(normalization.group_norm, (x(2, 4, 3), 2, [], 1e-5),
           lambda a, *_: (((b := a.reshape(2, 2, 6)) - b.mean(-1, keepdims=True)).__truediv__(
               s := np.sqrt(b.var(-1, keepdims=True) + 1e-5)).reshape(a.shape),
               b.mean(-1), 1 / s[..., 0])),
    Sample(activations.logistic_gradient, (A, scipy.special.expit(B)),
           lambda g, y: g * y * (1 - y)),
    *[Sample(polynomials.CHEBYSHEV[kind], (np.linspace(-0.9, 0.9, 7), np.array(4.0)),
             lambda a, n, f=f: f(4, a))
      for kind, f in (("t", scipy.special.eval_chebyt), ("u", scipy.special.eval_chebyu))],
]  # fmt: skip
SAMPLES = [*MOVED, *REDUCED, *ALGEBRA, *TRANSFORMED, *OTHERS]
