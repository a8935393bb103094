"""One picture from one long formula: a kaleidoscope folds and turns the plane, again and again.

Every pixel goes through the same few hundred operations and no intermediate is ever looked at, so
this is the kind of program for which a compiler has the most to do before the first result.
"""

import argparse
import json
import time

import numpy as np

STRETCH = 1.25
OFFSET_X, OFFSET_Y = 0.62, 0.38


def plane(size):
    """Return the coordinates x and y of the picture's pixels."""
    side = np.linspace(-1.6, 1.6, size)
    return np.meshgrid(side, side)


def kaleidoscope(x, y, folds):
    """Return how brightly each point of the plane glows."""
    glow = np.zeros_like(x)
    nearest = np.full_like(x, 10.0)
    scale = 1.0
    for fold in range(folds):
        angle = 0.4 + 0.09 * fold
        cosine, sine = np.cos(angle), np.sin(angle)
        x, y = np.abs(x) - OFFSET_X, np.abs(y) - OFFSET_Y
        x, y = cosine * x - sine * y, sine * x + cosine * y
        x, y, scale = x * STRETCH, y * STRETCH, scale * STRETCH
        distance = x * x + y * y
        nearest = np.minimum(nearest, distance)
        glow += 0.02 / (0.02 + np.abs(distance - 0.3) + 0.01 * fold)
    return glow / (1.0 + np.sqrt(nearest)) + 0.1 * np.log1p(scale * nearest)


def main():
    parser = argparse.ArgumentParser(description="a kaleidoscope: one deep fused chain")
    parser.add_argument("--size", type=int, default=1024, help="pixels along one side")
    parser.add_argument("--folds", type=int, default=30)
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the picture")
    args = parser.parse_args()

    start = time.perf_counter()
    x, y = plane(args.size)
    picture = kaleidoscope(x, y, args.folds)
    checksum = float(picture.sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, picture)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
