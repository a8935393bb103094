"""k-means: reduce a picture to a few colours by moving each colour to the mean of its pixels."""

import argparse
import json
import time

import numpy as np


def picture(height, width, seed=5):
    """Return a smooth colourful picture with grain, as `height * width` points in RGB."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0.0 : 1.0 : height * 1j, 0.0 : 1.0 : width * 1j]
    red = 0.5 + 0.5 * np.sin(9.0 * x + 4.0 * np.sin(5.0 * y))
    green = 0.5 + 0.5 * np.sin(7.0 * y + 3.0 * np.cos(6.0 * x) + 1.0)
    blue = np.exp(-6.0 * ((x - 0.6) ** 2 + (y - 0.4) ** 2))
    image = np.stack([red, green, blue], axis=-1)
    image += 0.04 * rng.standard_normal(image.shape)
    return np.clip(image, 0.0, 1.0).reshape(-1, 3)


def nearest(points, centres):
    """Return for each point the index of the closest centre."""
    distance = np.sum(centres**2, axis=1) - 2.0 * points @ centres.T
    return np.argmin(distance, axis=1)


def means(points, labels, centres):
    """Return the mean of the points of each label; a centre without points stays."""
    count = np.bincount(labels, minlength=len(centres))
    total = np.zeros_like(centres)
    for channel in range(points.shape[1]):
        total[:, channel] = np.bincount(labels, points[:, channel], minlength=len(centres))
    moved = centres.copy()
    used = count > 0
    moved[used] = total[used] / count[used, np.newaxis]
    return moved


def kmeans(points, colours, iterations, tolerance, seed=1):
    """Return centres, labels, and the number of rounds it took."""
    rng = np.random.default_rng(seed)
    centres = points[rng.choice(len(points), colours, replace=False)]
    for rounds in range(1, iterations + 1):
        labels = nearest(points, centres)
        moved = means(points, labels, centres)
        shift = np.abs(moved - centres).max()
        centres = moved
        if shift < tolerance:
            return centres, labels, rounds
    return centres, labels, iterations


def main():
    parser = argparse.ArgumentParser(description="colour quantisation by k-means")
    parser.add_argument("--height", type=int, default=400)
    parser.add_argument("--width", type=int, default=600)
    parser.add_argument("--colours", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the reduced picture")
    args = parser.parse_args()

    points = picture(args.height, args.width)
    start = time.perf_counter()
    centres, labels, rounds = kmeans(points, args.colours, args.iterations, args.tolerance)
    reduced = centres[labels]
    checksum = float(np.mean((points - reduced) ** 2))
    seconds = time.perf_counter() - start

    print(f"{args.colours} colours after {rounds} rounds")
    if args.out:
        np.save(args.out, reduced.reshape(args.height, args.width, 3))
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
