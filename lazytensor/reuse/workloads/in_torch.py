"""The workloads in torch's idiom, on the lazy device."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
import torch.nn.functional as F

import lazytensor.torch  # noqa: F401  it registers the device
from lazytensor.reuse.workloads import HEADS, LEARNING_RATE, STEPS, SWEEPS, Data

DEVICE = "lazytensor"


def _tensor(array: Any) -> Any:
    return torch.tensor(array, device=DEVICE)


def mlp(data: Data) -> Any:
    x, target = _tensor(data["x"]), _tensor(data["target"])
    features, hidden, results = x.shape[1], len(data["b1"]), target.shape[1]
    model = torch.nn.Sequential(
        torch.nn.Linear(features, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, results)
    )
    names = {"0.weight": "w1", "0.bias": "b1", "2.weight": "w2", "2.bias": "b2"}
    model.load_state_dict({name: torch.tensor(data[own]) for name, own in names.items()})
    model.to(DEVICE)
    losses = [_step(model, x, target).item() for _ in range(STEPS)]
    return losses, *model.parameters()


def _step(model: Any, x: Any, target: Any) -> Any:
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= LEARNING_RATE * weight.grad
    model.zero_grad()
    return loss.detach()


@torch.no_grad()
def convolution(data: Data) -> Any:
    x, weight, bias = (_tensor(data[name]) for name in ("x", "weight", "bias"))
    return F.relu(F.conv2d(x, weight, bias, padding=1)).mean(dim=(2, 3))


@torch.no_grad()
def attention(data: Data) -> Any:
    x, query, key, value, out = (
        _tensor(data[name]) for name in ("x", "query", "key", "value", "out")
    )
    batch, length, width = x.shape

    def heads(weight: Any) -> Any:
        return F.linear(x, weight).view(batch, length, HEADS, -1).transpose(1, 2)

    scores = heads(query) @ heads(key).transpose(-2, -1) / sqrt(width // HEADS)
    mixed = torch.softmax(scores, dim=-1) @ heads(value)
    return x + F.linear(mixed.transpose(1, 2).reshape(batch, length, width), out)


@torch.no_grad()
def kmeans(data: Data) -> Any:
    points, centres = _tensor(data["points"]), _tensor(data["centres"])
    for _ in range(STEPS):
        distances = ((points[:, None] - centres) ** 2).sum(dim=-1)
        nearest = distances.argmin(dim=1)
        members = (nearest[:, None] == torch.arange(len(centres), device=DEVICE)).float()
        centres = members.T @ points / members.sum(dim=0).clamp(min=1)[:, None]
    return centres


@torch.no_grad()
def stencil(data: Data) -> Any:
    grid = _tensor(data["grid"])
    for _ in range(SWEEPS):
        grid[1:-1, 1:-1] = 0.25 * (
            grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
        )
    return grid
