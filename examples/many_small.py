"""Fifty small, different programs, each run once on arrays of at most a thousand elements.

Nothing here is worth compiling: it is the everyday use of NumPy, and should take no time at all.
"""

import argparse
import json
import time

import numpy as np


def data(seed=2024):
    """Return the arrays that the programs work on, by name."""
    rng = np.random.default_rng(seed)
    square = rng.standard_normal((12, 12))
    return {
        "x": rng.standard_normal(1000),
        "y": rng.standard_normal(1000),
        "table": rng.standard_normal((40, 25)),
        "square": square,
        "spd": square @ square.T + 12.0 * np.eye(12),
        "counts": rng.integers(0, 10, 500),
        "grid": np.linspace(0.0, 1.0, 101),
        "points": rng.random((30, 2)),
    }


def sieve(**_):
    prime = np.ones(1000, dtype=bool)
    prime[:2] = False
    for n in range(2, 32):
        if prime[n]:
            prime[n * n :: n] = False
    return np.flatnonzero(prime)[-5:]


def game_of_life(counts, **_):
    cells = (counts[:400].reshape(20, 20) < 4).astype(np.int64)
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    for _ in range(3):
        around = sum(np.roll(cells, shift, axis=(0, 1)) for shift in shifts)
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(np.int64)
    return cells.sum()


def power_iteration(spd, **_):
    v = np.ones(len(spd))
    for _ in range(10):
        v = spd @ v
        v /= np.linalg.norm(v)
    return v @ spd @ v


def in_place(table, **_):
    work = table.copy()
    work[work < 0.0] = 0.0
    work[:, ::2] *= 2.0
    work[3] = work[4]
    return work.sum()


def distances(points):
    return np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1))


PROGRAMS = [
    ("sum", lambda x, **_: x.sum()),
    ("mean and spread", lambda x, **_: (x.mean(), x.std(), x.var(ddof=1))),
    ("extremes", lambda x, **_: (x.min(), x.max(), np.ptp(x))),
    ("where the extremes are", lambda x, **_: (x.argmin(), x.argmax())),
    ("median and quartiles", lambda x, **_: (np.median(x), *np.percentile(x, [25, 75]))),
    ("norm", lambda x, **_: np.sqrt(np.sum(x * x))),
    ("dot", lambda x, y, **_: x @ y),
    ("correlation", lambda x, y, **_: np.corrcoef(x, y)[0, 1]),
    ("covariance", lambda table, **_: np.cov(table.T)[0, :3]),
    ("column means", lambda table, **_: table.mean(axis=0)[:4]),
    ("row maxima", lambda table, **_: table.max(axis=1)[:4]),
    ("sort", lambda x, **_: np.sort(x)[:4]),
    ("argsort", lambda x, **_: np.argsort(x)[:4]),
    ("search", lambda grid, points, **_: np.searchsorted(grid, points[:5, 0])),
    ("unique", lambda counts, **_: np.unique(counts, return_counts=True)[1]),
    ("histogram", lambda x, **_: np.histogram(x, bins=8)[0]),
    ("bin counts", lambda counts, **_: np.bincount(counts, minlength=10)),
    ("boolean mask", lambda x, **_: x[(x > 0.0) & (x < 1.0)].mean()),
    ("fancy index", lambda x, counts, **_: x[counts].sum()),
    ("where", lambda x, **_: np.where(x > 0.0, x, 0.1 * x).sum()),
    ("outer", lambda grid, **_: np.outer(grid[:5], grid[:5])[2]),
    ("broadcast", lambda grid, **_: (grid[:20, None] * grid[None, :20]).sum()),
    ("trapezoid rule", lambda grid, **_: np.trapezoid(np.exp(-(grid**2)), grid)),
    ("polynomial", lambda grid, **_: np.polyval([1.0, -2.0, 0.5], grid).min()),
    ("interpolation", lambda grid, **_: np.interp(0.333, grid, grid**2)),
    ("cumulative sum", lambda x, **_: np.cumsum(x)[-1]),
    ("gradient", lambda grid, **_: np.gradient(grid**2, grid)[:3]),
    ("matrix product", lambda square, **_: (square @ square.T)[0, :3]),
    ("determinant", lambda spd, **_: np.log(np.linalg.det(spd))),
    ("inverse", lambda spd, **_: np.linalg.inv(spd).trace()),
    ("einsum", lambda table, **_: np.einsum("ij,kj->ik", table, table)[0, :3]),
    ("stack", lambda x, y, **_: np.vstack([x[:5], y[:5]]).T.shape),
    ("logic", lambda x, **_: (bool(np.any(x > 3.0)), bool(np.all(np.isfinite(x))))),
    ("moving average", lambda x, **_: np.convolve(x, np.ones(7) / 7.0, mode="valid").max()),
    ("sieve", sieve),
    ("game of life", game_of_life),
    ("cube roots", lambda grid, **_: np.cbrt(grid[::20])),
    ("power iteration", power_iteration),
    ("standard scores", lambda table, **_: np.abs((table - table.mean(0)) / table.std(0)).max()),
    ("longest run", lambda counts, **_: np.diff(np.flatnonzero(np.diff(counts))).max()),
    ("cumulative product", lambda counts, **_: np.cumprod(1.0 - counts[:20] / 100.0)[-1]),
    ("in-place", in_place),
    ("complex", lambda grid, **_: np.abs(np.diff(grid * np.exp(9j * grid))).sum()),
    ("solve", lambda spd, square, **_: np.linalg.solve(spd, square)[0, :3]),
    ("eigenvalues", lambda spd, **_: np.linalg.eigvalsh(spd)[-3:]),
    ("line fit", lambda grid, y, **_: np.polyfit(grid, 3.0 * grid + 0.01 * y[:101], 1)),
    ("spectrum", lambda grid, **_: np.abs(np.fft.rfft(np.sin(44.0 * grid))).argmax()),
    ("closest pair", lambda points, **_: np.sort(distances(points), axis=1)[:, 1].min()),
    ("one-hot", lambda counts, **_: np.eye(10)[counts].sum(axis=0)),
    ("masked division", lambda x, y, **_: np.divide(x, y, out=0.0 * x, where=y > 0.1).max()),
]


def text(result):
    """Return a result as short text, the same to the last digit shown on every machine."""
    parts = result if isinstance(result, tuple) else (result,)
    return "  ".join(np.array2string(np.asarray(part), precision=6) for part in parts)


def main():
    parser = argparse.ArgumentParser(description="fifty small programs")
    parser.add_argument("--out", metavar="FILE.npy", help="where to save all results, flat")
    args = parser.parse_args()

    start = time.perf_counter()
    arrays = data()
    flat = []
    for name, program in PROGRAMS:
        result = program(**arrays)
        print(f"{name:24s} {text(result)}")
        parts = result if isinstance(result, tuple) else (result,)
        flat += [np.ravel(np.asarray(part, dtype=float)) for part in parts]
    values = np.concatenate(flat)
    checksum = float(values.sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, values)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
