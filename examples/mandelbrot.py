"""The Mandelbrot set by boolean masks: only the points that have not escaped are iterated on."""

import argparse
import json
import time

import numpy as np

HORIZON = 4.0  # far enough outside 2 for the smooth count below to look smooth


def plane(width, height):
    """Return the complex numbers of the picture, one a pixel."""
    x = np.linspace(-2.2, 0.8, width)
    y = np.linspace(-1.2, 1.2, height)
    return x + 1j * y[:, np.newaxis]


def escape(C, iterations):
    """Return how many steps each point of `C` stayed inside the horizon, and where it ended."""
    Z = np.zeros_like(C)
    count = np.zeros(C.shape, dtype=np.int64)
    for step in range(iterations):
        inside = np.abs(Z) < HORIZON
        Z[inside] = Z[inside] ** 2 + C[inside]
        count[inside] = step
    return count, Z


def smooth(count, Z, iterations):
    """Turn whole counts into continuous ones; points of the set itself get zero."""
    outside = count < iterations - 1
    shade = np.zeros(count.shape)
    radius = np.abs(Z[outside])
    shade[outside] = count[outside] + 1.0 - np.log2(np.log(radius) / np.log(HORIZON))
    return shade


def main():
    parser = argparse.ArgumentParser(description="Mandelbrot set")
    parser.add_argument("--width", type=int, default=1500)
    parser.add_argument("--height", type=int, default=1200)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the smooth counts")
    args = parser.parse_args()

    C = plane(args.width, args.height)
    start = time.perf_counter()
    count, Z = escape(C, args.iterations)
    shade = smooth(count, Z, args.iterations)
    checksum = float(count.sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, shade)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
