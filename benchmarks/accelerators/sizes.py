"""Sizes of the compared models and of their inputs."""

from __future__ import annotations

from typing import Final, NamedTuple


class Mlp(NamedTuple):
    """A perceptron."""

    batch: int
    widths: tuple[int, ...]


class Attention(NamedTuple):
    """A block of attention."""

    batch: int
    length: int
    width: int
    heads: int


class Encoder(NamedTuple):
    """A stack of blocks as in BERT."""

    batch: int
    length: int
    width: int
    heads: int
    layers: int
    words: int


class Residual(NamedTuple):
    """A residual network."""

    batch: int
    side: int
    classes: int


MLP: Final = Mlp(256, (784, 512, 512, 10))
ATTENTION: Final = Attention(8, 128, 256, 8)
BERT: Final = Encoder(4, 64, 128, 4, 2, 1000)
RESNET: Final = Residual(8, 32, 10)
RESNET_STAGES: Final = (64, 128, 256, 512)
JACOBI_SIDE: Final = 1024
OPTIONS: Final = 200_000
