"""The workloads in NumPy's idiom; without autograd, the backward pass is written out."""

from __future__ import annotations

from math import sqrt
from typing import Any

import lazytensor.numpy as np
from lazytensor.reuse.workloads import HEADS, LEARNING_RATE, STEPS, SWEEPS, Data


def mlp(data: Data) -> Any:
    x, target = np.array(data["x"]), np.array(data["target"])
    weights = [np.array(data[name]) for name in ("w1", "b1", "w2", "b2")]
    losses = [float(_step(x, target, *weights)) for _ in range(STEPS)]
    return losses, *weights


def _step(x: Any, target: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    hidden = np.tanh(x @ w1.T + b1)
    error = hidden @ w2.T + b2 - target
    of_error = 1 / error.size * (2 * error)
    of_hidden = (of_error @ w2) * (1 - hidden**2)
    slopes = of_hidden.T @ x, of_hidden.sum(axis=0), of_error.T @ hidden, of_error.sum(axis=0)
    for weight, slope in zip((w1, b1, w2, b2), slopes, strict=True):
        weight -= LEARNING_RATE * slope
    return (error**2).mean()


def convolution(data: Data) -> Any:
    x, weight, bias = (np.array(data[name]) for name in ("x", "weight", "bias"))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    made = np.einsum("nchwij,ocij->nohw", windows, weight) + bias[:, None, None]
    return np.maximum(made, 0).mean(axis=(2, 3))


def attention(data: Data) -> Any:
    x, query, key, value, out = (
        np.array(data[name]) for name in ("x", "query", "key", "value", "out")
    )
    batch, length, width = x.shape

    def heads(weight: Any) -> Any:
        return (x @ weight.T).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)

    scores = heads(query) @ heads(key).swapaxes(-2, -1) / sqrt(width // HEADS)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed = (shares @ heads(value)).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return x + mixed @ out.T


def kmeans(data: Data) -> Any:
    points, centres = np.array(data["points"]), np.array(data["centres"])
    for _ in range(STEPS):
        distances = ((points[:, None] - centres) ** 2).sum(axis=-1)
        nearest = distances.argmin(axis=1)
        members = (nearest[:, None] == np.arange(len(centres))).astype(np.float32)
        centres = members.T @ points / np.maximum(members.sum(axis=0), 1)[:, None]
    return centres


def stencil(data: Data) -> Any:
    grid = np.array(data["grid"])
    for _ in range(SWEEPS):
        grid[1:-1, 1:-1] = 0.25 * (
            grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
        )
    return grid
