"""Jacobi's method for Laplace's equation: every inner point becomes the mean of its neighbourhood.

Two arrays take turns: `B` is computed from `A`, then `A` from `B`. The edges stay as they are.
"""

import argparse
import json
import time

import numpy as np


def plate(size):
    """Return `(A, B)`: a cold square plate with a hot top edge and a warm left edge, twice."""
    A = np.zeros((size, size))
    A[0, :] = 1.0
    A[:, 0] = np.linspace(1.0, 0.25, size)
    return A, A.copy()


def jacobi(A, B, steps):
    """Relax `A` in place by `steps` double sweeps, with `B` as the other array."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )
    return A


def main():
    parser = argparse.ArgumentParser(description="2-D Jacobi relaxation")
    parser.add_argument("--size", type=int, default=700, help="points along one side")
    parser.add_argument("--steps", type=int, default=1000, help="double sweeps")
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the final temperature")
    args = parser.parse_args()

    A, B = plate(args.size)
    start = time.perf_counter()
    field = jacobi(A, B, args.steps)
    checksum = float(field.sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, field)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
