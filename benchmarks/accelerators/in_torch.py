"""The models in torch. `device` says where: "lazytensor", "cuda", "cpu"."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.accelerators.sizes import ATTENTION, BERT, MLP, RESNET, RESNET_STAGES

Step = Callable[[], Any]


def mlp(device: str, compiled: bool = False) -> Step:
    """A step of plain gradient descent."""
    layers: list[nn.Module] = []
    for m, n in pairwise(MLP.widths):
        layers += [nn.Linear(m, n), nn.ReLU()]
    net = nn.Sequential(*layers[:-1]).to(device)
    x, y = _images((MLP.batch, MLP.widths[0]), MLP.widths[-1], device)
    return _step(net, torch.optim.SGD(net.parameters(), 0.1), x, y, compiled)


class Attend(nn.Module):
    """Attention of several heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part(x).view(batch, length, self.heads, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and a perceptron, each added and normalized."""

    def __init__(self) -> None:
        super().__init__()
        width = BERT.width
        self.attend = Attend(width, BERT.heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x + self.attend(x))
        return self.second(x + self.narrow(functional.gelu(self.wide(x))))


class Unit(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inner: int, out: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(inner, out, 3, stride)
        self.second = _convolution(out, out, 3, 1)
        self.around = _convolution(inner, out, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.second(functional.relu(self.first(x))) + self.around(x))


def _convolution(inner: int, out: int, side: int, stride: int) -> nn.Module:
    plain = nn.Conv2d(inner, out, side, stride, side // 2, bias=False)
    return nn.Sequential(plain, nn.BatchNorm2d(out))


def attention(device: str, compiled: bool = False) -> Step:
    """A step of a block of attention."""
    net = Attend(ATTENTION.width, ATTENTION.heads).to(device)
    x = torch.randn(ATTENTION.batch, ATTENTION.length, ATTENTION.width).to(device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    return _step(net, optimizer, x, None, compiled)


def bert(device: str, compiled: bool = False) -> Step:
    """A step of Adam of an encoder."""
    blocks = [Block() for _ in range(BERT.layers)]
    ends = nn.Embedding(BERT.words, BERT.width), nn.Linear(BERT.width, BERT.words)
    net = nn.Sequential(ends[0], *blocks, ends[1], nn.Flatten(0, 1)).to(device)
    words = torch.randint(BERT.words, (BERT.batch, BERT.length)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    return _step(net, optimizer, words, words.flatten(), compiled)


def resnet(device: str, compiled: bool = False) -> Step:
    """A step of descent with momentum of ResNet-18 for small images."""
    units, inner = [], RESNET_STAGES[0]
    for stage, out in enumerate(RESNET_STAGES):
        units += [Unit(inner, out, 2 if stage else 1), Unit(out, out, 1)]
        inner = out
    ends = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, RESNET.classes)
    lead = _convolution(3, RESNET_STAGES[0], 3, 1), nn.ReLU()
    net = nn.Sequential(*lead, *units, *ends).to(device)
    x, y = _images((RESNET.batch, 3, RESNET.side, RESNET.side), RESNET.classes, device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    return _step(net, optimizer, x, y, compiled)


def _images(shape: tuple[int, ...], classes: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(shape).to(device), torch.randint(classes, shape[:1]).to(device)


def _step(
    net: nn.Module, optimizer: Any, x: torch.Tensor, y: torch.Tensor | None, compiled: bool
) -> Step:
    run: Any = torch.compile(net) if compiled else net

    def loss_of(made: torch.Tensor) -> torch.Tensor:
        return made.square().mean() if y is None else functional.cross_entropy(made, y)

    def step() -> torch.Tensor:
        loss = loss_of(run(x))  # the network's result is dropped: what lives is stored
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


MODELS = {f.__name__: f for f in (mlp, attention, bert, resnet)}
