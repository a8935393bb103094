"""Path-dependent options by Monte Carlo: an Asian call and a down-and-out call on the same paths.

Prices follow a geometric Brownian motion, day by day. The Asian call pays on the mean price; the
down-and-out call pays on the last one, unless the price has ever touched the barrier.
"""

import argparse
import json
import time

import numpy as np

SPOT, STRIKE, BARRIER = 100.0, 105.0, 80.0
RATE, VOLATILITY, YEARS = 0.03, 0.25, 1.0
SHOWN = 400  # paths kept for the picture


def walk(rng, paths, days):
    """Return last and mean price of each path, whether it stayed above, and some whole paths."""
    dt = YEARS / days
    drift = (RATE - 0.5 * VOLATILITY**2) * dt
    price = np.full(paths, SPOT)
    total = np.zeros(paths)
    alive = np.ones(paths, dtype=bool)
    track = np.empty((days + 1, min(SHOWN, paths)))
    track[0] = SPOT
    for day in range(1, days + 1):
        noise = rng.standard_normal(paths)
        price *= np.exp(drift + VOLATILITY * np.sqrt(dt) * noise)
        total += price
        alive &= price > BARRIER
        track[day] = price[:SHOWN]
    return price, total / days, alive, track


def value(payoff):
    """Return today's value of a payoff at the end, and the standard error of the estimate."""
    today = np.exp(-RATE * YEARS) * payoff
    return today.mean(), today.std(ddof=1) / np.sqrt(len(today))


def main():
    parser = argparse.ArgumentParser(description="Monte Carlo option pricing")
    parser.add_argument("--paths", type=int, default=200_000)
    parser.add_argument("--days", type=int, default=252)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--out", metavar="FILE.npy", help="where to save some of the paths")
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    start = time.perf_counter()
    last, mean, alive, track = walk(rng, args.paths, args.days)
    asian, asian_error = value(np.maximum(mean - STRIKE, 0.0))
    barrier, barrier_error = value(np.where(alive, np.maximum(last - STRIKE, 0.0), 0.0))
    checksum = float(asian + barrier)
    seconds = time.perf_counter() - start

    print(f"Asian call        {asian:8.4f} +- {asian_error:.4f}")
    print(f"down-and-out call {barrier:8.4f} +- {barrier_error:.4f}")
    print(f"{np.count_nonzero(~alive)} of {args.paths} paths touched the barrier")
    if args.out:
        np.save(args.out, track)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
