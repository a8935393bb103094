"""Heat flowing through a cube: explicit Euler steps of the heat equation in three dimensions."""

import argparse
import json
import time

import numpy as np

ALPHA = 0.125  # diffusivity * dt / dx^2; stable up to 1/6


def cube(size):
    """Return the start: a cold cube with a hot ball off its centre and one warm face."""
    x, y, z = np.meshgrid(*[np.linspace(-1.0, 1.0, size)] * 3, indexing="ij")
    T = np.where((x - 0.2) ** 2 + y**2 + (z + 0.1) ** 2 < 0.2, 1.0, 0.0)
    T[0] = 0.5
    return T


def second_difference(T, axis):
    """Return `T[i-1] - 2 T[i] + T[i+1]` along `axis`, on the inner points of the cube."""
    inner = [slice(1, -1)] * 3
    before, after = inner.copy(), inner.copy()
    before[axis] = slice(None, -2)
    after[axis] = slice(2, None)
    return T[tuple(before)] - 2.0 * T[tuple(inner)] + T[tuple(after)]


def simulate(T, steps):
    """Advance `T` in place by `steps` steps; its faces keep their temperature."""
    inner = T[1:-1, 1:-1, 1:-1]
    for _ in range(steps):
        flow = second_difference(T, 0) + second_difference(T, 1) + second_difference(T, 2)
        inner += ALPHA * flow
    return T


def main():
    parser = argparse.ArgumentParser(description="3-D heat equation")
    parser.add_argument("--size", type=int, default=120, help="points along one side")
    parser.add_argument("--steps", type=int, default=150, help="time steps")
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the middle slice")
    args = parser.parse_args()

    T = cube(args.size)
    start = time.perf_counter()
    T = simulate(T, args.steps)
    checksum = float(T.sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, T[:, :, args.size // 2])
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
