"""A landscape of a hundred hills, each a Gaussian: one long formula for every point of the map.

No intermediate of its thousand operations is ever looked at, so this is the kind of program for
which a compiler has the most to do before the first picture. Then the hills drift.
"""

import argparse
import json
import time

import numpy as np

HILLS = 100


def range_of_hills(seed=12):
    """Return a list of hills: place east and north, height, and how steep it is."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(-1.0, 1.0, (HILLS, 2))
    height = rng.uniform(-0.6, 1.0, (HILLS, 1))
    steepness = rng.uniform(15.0, 250.0, (HILLS, 1))
    return np.hstack([place, height, steepness]).tolist()


def plane(size):
    """Return the coordinates x and y of the map's points."""
    side = np.linspace(-1.0, 1.0, size)
    return np.meshgrid(side, side)


def landscape(x, y, hills, drift):
    """Return the height of the land at each point when all hills have moved east by `drift`."""
    land = 0.1 * np.sin(3.0 * x) * np.cos(2.0 * y)
    for east, north, height, steepness in hills:
        dx, dy = x - (east + drift), y - north
        land += height * np.exp(-steepness * (dx * dx + dy * dy))
    return land


def main():
    parser = argparse.ArgumentParser(description="a landscape from one long formula")
    parser.add_argument("--size", type=int, default=1024, help="points along one side")
    parser.add_argument("--frames", type=int, default=5, help="pictures, the hills drifting on")
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the last picture")
    args = parser.parse_args()

    start = time.perf_counter()
    x, y = plane(args.size)
    hills = range_of_hills()
    for frame in range(args.frames):
        land = landscape(x, y, hills, drift=0.02 * frame)
        checksum = float(land.sum())
        print(f"frame {frame}: {checksum:.6g} after {time.perf_counter() - start:.3f} s")
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, land)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
