"""Black-Scholes prices of four million options, revalued on several dates as they near expiry.

The book holds every combination of `size` spot prices and `size` volatilities, strike 100. The
normal distribution function is Abramowitz and Stegun's polynomial 26.2.17, good to 7.5e-8.
"""

import argparse
import json
import math
import time

import numpy as np

RATE = 0.03
STRIKE = 100.0
POLYNOMIAL = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)


def normal_cdf(x):
    """Return the standard normal distribution function of `x`."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = np.zeros_like(x)
    for coefficient in reversed(POLYNOMIAL):
        tail = (tail + coefficient) * t
    tail *= np.exp(-0.5 * x * x) * 0.3989422804
    return np.where(x < 0.0, tail, 1.0 - tail)


def price(spot, volatility, years):
    """Return the prices of a call and of a put with `years` left."""
    spread = volatility * math.sqrt(years)
    d1 = (np.log(spot / STRIKE) + (RATE + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    bond = STRIKE * math.exp(-RATE * years)
    call = spot * normal_cdf(d1) - bond * normal_cdf(d2)
    put = call - spot + bond
    return call, put


def book(size):
    """Return spots and volatilities, flat, of `size * size` options."""
    spots = np.linspace(50.0, 150.0, size, dtype=np.float32)
    volatilities = np.linspace(0.05, 0.6, size, dtype=np.float32)
    spot, volatility = np.meshgrid(spots, volatilities)
    return spot.ravel(), volatility.ravel()


def revalue(spot, volatility, rounds):
    """Return what each straddle (a call and a put) is worth above exercise, mean over the dates."""
    worth = np.zeros_like(spot)
    for date in range(rounds):
        call, put = price(spot, volatility, years=1.0 - date / rounds)
        worth += call + put - np.abs(spot - STRIKE)
    worth /= rounds
    return worth


def main():
    parser = argparse.ArgumentParser(description="Black-Scholes on a book of options")
    parser.add_argument("--size", type=int, default=2000, help="spots, and volatilities")
    parser.add_argument("--rounds", type=int, default=8, help="pricing dates")
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the mean worth")
    args = parser.parse_args()

    spot, volatility = book(args.size)
    start = time.perf_counter()
    worth = revalue(spot, volatility, args.rounds)
    checksum = float(worth.sum(dtype=np.float64))
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, worth.reshape(args.size, args.size))
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
