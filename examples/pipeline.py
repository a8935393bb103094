"""Option quotes in three frameworks: NumPy cleans them, torch prices them, TensorFlow decides.

python examples/pipeline.py          # lazily: a batch of quotes is one XLA program
python examples/pipeline.py --eager  # the same code on each framework's own kernels
"""

import argparse
import json
import math
import time
from contextlib import nullcontext

import numpy
import tensorflow as tf
import torch

RATE = 0.03
COST, LIMIT = 0.6, 25.0  # half a spread and fees, in spreads; the largest position


def quotes(rows, seed=0):
    """Return spot, strike, days, bid and ask of calls, f32[5, rows]; some are not usable."""
    rng = numpy.random.default_rng(seed)
    spot = rng.lognormal(4.0, 0.4, rows)
    days = rng.integers(1, 720, rows)
    years = days / 365.0
    strike = spot * numpy.exp(rng.normal(0.0, 0.25, rows) * numpy.sqrt(years))
    volatility = 0.2 + 0.1 * numpy.exp(-years) + 0.15 * numpy.log(strike / spot) ** 2
    time_value = 0.4 * spot * volatility * numpy.sqrt(years)
    value = numpy.maximum(spot - strike, 0.0) + time_value * rng.lognormal(0.0, 0.1, rows)
    spread = 0.02 + 0.02 * value
    bid, ask = value - 0.5 * spread, value + 0.5 * spread
    bid[rng.random(rows) < 0.02] = numpy.nan  # nobody bids
    ask[rng.random(rows) < 0.01] = 0.0  # a quote that was taken back
    return numpy.stack([spot, strike, days, bid, ask]).astype(numpy.float32)


def prepare(np, columns):
    """Return log-moneyness, years, forward, mid price, spread and weight, each f32[rows]."""
    spot, strike, days, bid, ask = columns
    usable = np.isfinite(bid) & (bid > 0.0) & (ask > bid)
    bid, ask = np.where(usable, bid, 0.0), np.where(usable, ask, 1.0)
    years = np.maximum(days, 1.0) / 365.0
    forward = spot * np.exp(RATE * years)
    moneyness = np.log(strike / forward)
    spread = np.clip(ask - bid, 0.01, 10.0)
    middle = 0.5 * (bid + ask)
    trusted = np.exp(-2.0 * moneyness**2 / years) / (1.0 + spread / (middle + 0.1))
    weight = np.where(usable, trusted, 0.0)
    return moneyness, years, forward, middle, spread, weight


class Surface(torch.nn.Module):
    """Prices of calls by a volatility smile (SVI) whose level and slope depend on the expiry."""

    def __init__(self):
        super().__init__()
        self.level = torch.nn.Parameter(torch.tensor([0.02, 0.02]))
        self.slope = torch.nn.Parameter(torch.tensor([0.1, 0.05]))
        self.shape = torch.nn.Parameter(torch.tensor([-0.3, 0.0, 0.2]))

    def variance(self, moneyness, years):
        """Return the total variance up to the expiry."""
        fading = torch.exp(-years)
        level = self.level[0] + self.level[1] * fading
        slope = self.slope[0] + self.slope[1] * fading
        tilt, centre, width = self.shape
        away = moneyness - centre
        smile = torch.tanh(tilt) * away + torch.sqrt(away**2 + width**2)
        return years * torch.nn.functional.softplus(level + slope * smile, beta=20.0)

    def forward(self, moneyness, years, forward):
        """Return the price of a call."""
        deviation = torch.sqrt(self.variance(moneyness, years))
        d1 = -moneyness / deviation + 0.5 * deviation
        strike = forward * torch.exp(moneyness)
        payoff = forward * normal_cdf(d1) - strike * normal_cdf(d1 - deviation)
        return torch.exp(-RATE * years) * payoff


def normal_cdf(x):
    """Return how likely a standard normal number is below x."""
    return 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def decide(price, middle, spread, weight):
    """Return positions, f32[rows], and a report on the batch, f32[5]."""
    price, middle = tf.convert_to_tensor(price), tf.convert_to_tensor(middle)
    spread, weight = tf.convert_to_tensor(spread), tf.convert_to_tensor(weight)
    edge = (price - middle) / spread
    after_cost = tf.sign(edge) * tf.nn.relu(tf.abs(edge) - COST)
    position = LIMIT * tf.tanh(after_cost / 4.0) * weight
    gain = position * (price - middle) - COST * tf.abs(position) * spread
    traded = tf.cast(tf.abs(position) > 0.0, tf.float32)
    total = tf.reduce_sum(weight)
    report = [
        tf.sqrt(tf.reduce_sum(weight * edge**2) / total),
        tf.reduce_sum(gain),
        tf.reduce_sum(tf.abs(position) * middle),
        tf.reduce_mean(traded),
        tf.reduce_sum(weight * tf.cast(edge > 0.0, tf.float32)) / total,
    ]
    return position, tf.stack(report)


def score(np, model, raw):
    """Return what `decide` says about a batch of quotes, f32[5, rows]."""
    moneyness, years, forward, *rest = prepare(np, np.asarray(raw))
    device = model.level.device
    with torch.no_grad():
        price = model(*(torch.as_tensor(x, device=device) for x in (moneyness, years, forward)))
    return decide(price, *rest)


def train(np, model, optimizer, raw):
    """Fit the surface to a batch by one step; return the report on the batch before it."""
    prepared = prepare(np, np.asarray(raw))
    device = model.level.device
    moneyness, years, forward, middle, spread, weight = (
        torch.as_tensor(x, device=device) for x in prepared
    )
    price = model(moneyness, years, forward)
    edge = (price - middle) / spread
    loss = (weight * torch.nn.functional.huber_loss(edge, 0.0 * edge, reduction="none")).mean()
    optimizer.zero_grad()
    loss.backward()
    _, report = decide(price.detach(), *prepared[3:])
    optimizer.step()  # lazily, it ends the step: all of the above is one program
    return report


def frameworks(eager):
    """Return a NumPy, a torch device, and the context in which TensorFlow is used."""
    if eager:
        return numpy, "cpu", nullcontext()
    import lazytensor.numpy
    import lazytensor.tf
    import lazytensor.torch

    return lazytensor.numpy, "lazytensor", lazytensor.tf.enabled()


def main():
    parser = argparse.ArgumentParser(description="option quotes in three frameworks")
    parser.add_argument("--eager", action="store_true", help="each framework's own kernels")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batches", type=int, default=20)
    args = parser.parse_args()

    np, device, context = frameworks(args.eager)
    batches = [quotes(args.rows, seed) for seed in range(4)]
    model = Surface().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with context:
        for step in range(args.steps):
            report = train(np, model, optimizer, batches[step % len(batches)])
        numpy.asarray(report)  # waits
        start = time.perf_counter()
        for i in range(args.batches):
            _, report = score(np, model, batches[i % len(batches)])
            checksum = float(numpy.asarray(report).sum())
    seconds = (time.perf_counter() - start) / args.batches
    print(json.dumps({"seconds": seconds, "checksum": checksum}))


if __name__ == "__main__":
    main()
