"""What moves between the host's memory and a device's: what is asked for, and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy
import pytest
import tensorflow as tf
import torch
from torch import nn
from torch.nn import functional

import lazytensor
import lazytensor.numpy as np
import lazytensor.tf
import lazytensor.torch
from lazytensor import metrics, settings
from lazytensor.core.runtime import background
from lazytensor.launched import LOCAL_DEVICES

WARMING: Final = 4
STEPS: Final = 6
Step = Callable[[], Any]


class Workload(NamedTuple):
    """A step, and how often a run of it moves something up and down.

    Numbers that differ from step to step go up together. The verdict of a step's guards comes down.
    """

    make: Callable[[], Step]
    up: int
    down: int


def _training(net: nn.Module, x: torch.Tensor, make: Callable[[Any], Any]) -> Step:
    net, data = net.to("lazytensor"), x.to("lazytensor")
    target = torch.randint(4, (len(x),)).to("lazytensor")
    optimizer = make(net.parameters())

    def step() -> torch.Tensor:
        loss = functional.cross_entropy(net(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 4))


def _convolutional() -> nn.Module:
    lead = (nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*lead, nn.Flatten(), nn.Linear(8 * 16, 4))


def _sgd() -> Step:
    return _training(_convolutional(), torch.randn(4, 3, 8, 8), lambda p: torch.optim.SGD(p, 0.1))


def _adam() -> Step:
    return _training(_mlp(), torch.randn(8, 16), torch.optim.AdamW)


def _adam_with_loss() -> Step:
    step = _adam()
    return lambda: step().item()


def _adam_of_batches() -> Step:
    net = _mlp().to("lazytensor")
    optimizer = torch.optim.AdamW(net.parameters())

    def step() -> None:
        loss = net(torch.randn(8, 16).to("lazytensor")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    return step


def _inference() -> Step:
    net, x = _mlp().eval().to("lazytensor"), torch.randn(8, 16).to("lazytensor")

    def step() -> None:
        with torch.no_grad():
            kept = net(x).argmax(1)
        lazytensor.sync()
        del kept

    return step


def _stencil() -> Step:
    grid = [np.asarray(numpy.random.default_rng(0).random((64, 64)))]

    def step() -> float:
        u = grid[0]
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        grid[0] = v
        return float(abs(v - u).max())

    return step


def _regression() -> Step:
    x = np.asarray(numpy.random.default_rng(0).random((500, 3)))
    y = x @ np.array([1.0, 2.0, 3.0])
    weights, count = [np.zeros(3)], [0]

    def step() -> None:
        count[0] += 1
        slope = x.T @ (x @ weights[0] - y) / len(x)
        weights[0] = weights[0] - (0.1 / count[0]) * slope
        lazytensor.sync()

    return step


def _keras() -> Step:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(32, "relu"), layers.Dropout(0.1), layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    x = tf.random.normal((8, 16))

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
        lazytensor.sync()

    return step


WORKLOADS: Final = {
    "torch, convolutions, SGD": Workload(_sgd, 1, 1),
    "torch, AdamW": Workload(_adam, 1, 1),
    "torch, AdamW, loss read": Workload(_adam_with_loss, 1, 2),
    "torch, AdamW, a batch a step": Workload(_adam_of_batches, 2, 0),
    "torch, inference": Workload(_inference, 0, 0),
    "numpy, stencil, error read": Workload(_stencil, 0, 1),
    "numpy, regression, a rate a step": Workload(_regression, 1, 0),
    "keras, Adam": Workload(_keras, 1, 0),
}


@pytest.mark.parametrize("tier", ["compile", "auto"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_only_what_is_asked_for_is_moved(
    name: str, tier: str, moved: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    workload = WORKLOADS[name]
    with lazytensor.tf.enabled():
        step = workload.make()
        for _ in range(WARMING):  # a program is compiled when it comes back
            step()
            background.drain()
        moved.clear()
        before = metrics.snapshot()
        for _ in range(STEPS):
            step()
        after, found = (
            metrics.snapshot(),
            (moved["up"], moved["down"]),
        )  # before TF's values go back
    assert found == (STEPS * workload.up, STEPS * workload.down)
    for count in ("compiles", "interpreted", "fallbacks"):
        assert after[count] == before[count]


def test_between_devices_the_host_takes_no_part(
    moved: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOCAL_DEVICES, "3")
    monkeypatch.setattr(settings, "tier", "compile")
    x = np.asarray(numpy.ones((64, 64)), device="lazytensor:1") + 1
    lazytensor.sync()
    moved.clear()
    there = x.to_device("lazytensor:2")
    here = (there * 2).to_device("cpu")
    lazytensor.sync()
    assert moved.total() == 0
    numpy.testing.assert_array_equal(here, numpy.full((64, 64), 4.0))
