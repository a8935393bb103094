"""Batches whose lengths change: one program for all, and the losses are the CPU's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics, settings
from tests.pytorch import models
from tests.sweeps import one_in

pytestmark = pytest.mark.usefixtures("no_fallback")

LENGTHS = (9, 10, 12, 17, 20, 33, 40)
BATCH, WORDS, SIZE = 4, models.WORDS, 8


class Tagger(nn.Module):
    """A tag for each word."""

    def __init__(self, layers: nn.Module, size: int = SIZE) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, SIZE)
        self.layers = layers
        self.tags = nn.Linear(size, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        made = self.layers(self.words(words))
        made = made[0] if isinstance(made, tuple) else made
        return functional.cross_entropy(self.tags(made).flatten(0, 1), words.flatten())


class Judge(nn.Module):
    """One class for each sentence: by batches of as many sentences as others have words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, SIZE)
        self.rest = nn.Sequential(
            nn.Linear(BATCH * SIZE, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 5)
        )

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        made = self.rest(self.words(words.T).flatten(1))
        return functional.cross_entropy(made, words[0] % 5)


class Pictures(nn.Module):
    """One class for each picture: by batches of as many pictures as others have words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, SIZE)
        self.rest = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2), nn.AdaptiveAvgPool2d(1),
            nn.Flatten(), nn.Linear(8, 5),
        )  # fmt: skip

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        made = self.rest(self.words(words.T).unflatten(1, (2, 2)).repeat(1, 1, 2, 1))
        return functional.cross_entropy(made, words[0] % 5)


class Sounds(nn.Module):
    """A tag for each word, of its neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.rest = nn.Sequential(
            nn.Conv1d(SIZE, SIZE, 3, padding=1), nn.GELU(),
            nn.Conv1d(SIZE, SIZE, 4, padding=3, groups=SIZE), nn.AvgPool1d(3, 1, padding=1),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rest(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2)


class Labelled(nn.Module):
    """A model of `transformers`, which computes its loss."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.model = models.SAMPLES[name].build()

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = self.model(input_ids=words, labels=words).loss
        return loss


def encoder(dropout: float = 0.0) -> nn.Module:
    layer = nn.TransformerEncoderLayer(SIZE, 2, 16, dropout=dropout, batch_first=True)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)


NETS: dict[str, Callable[[], nn.Module]] = {
    "gpt2": lambda: Labelled("gpt2"),
    "llama": lambda: Labelled("llama"),
    "encoder": lambda: Tagger(encoder()),
    "LSTM": lambda: Tagger(nn.LSTM(SIZE, SIZE, batch_first=True)),
    "GRU, both ways": lambda: Tagger(
        nn.GRU(SIZE, SIZE, 2, batch_first=True, bidirectional=True), 2 * SIZE
    ),
    "batches": Judge,
    "pictures": Pictures,
    "sounds": lambda: Tagger(Sounds()),
}


def losses(
    net: nn.Module, device: str, trains: bool, lengths: Sequence[int] = LENGTHS
) -> list[float]:
    torch.manual_seed(1)
    net.train(trains)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    torch.lazytensor.synchronize()
    metrics.reset()
    found = []
    for length in lengths:
        words = torch.randint(3, WORDS, (BATCH, length)).to(device)
        with torch.set_grad_enabled(trains):
            loss: Any = net(words)
        if trains:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append(loss.item())
    return found


@one_in(3)
@pytest.mark.parametrize(
    ("name", "trains"), [*((name, True) for name in NETS), ("llama", False), ("batches", False)]
)
def test_lengths_that_change_are_one_program(
    name: str, trains: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    net = NETS[name]()
    there = copy.deepcopy(net).to("lazytensor")
    wanted = losses(net, "cpu", trains)
    found = losses(there, "lazytensor", trains)
    counts = metrics.snapshot()
    assert found == pytest.approx(wanted, rel=1e-5)
    # Two lengths have programs of their own: it does not show before that lengths change.
    assert counts["padded"] == len(LENGTHS) - 2
    assert counts["compiles"] + counts["disk_hits"] <= 3
    assert counts["cuts"] == len(LENGTHS)


DROPPING: dict[str, Callable[[], nn.Module]] = {
    "encoder": lambda: Tagger(encoder(dropout=0.2)),
    "LSTM": lambda: Tagger(nn.LSTM(SIZE, SIZE, 2, batch_first=True, dropout=0.2)),
}


@pytest.mark.parametrize("name", DROPPING)
def test_under_one_seed_the_same_is_dropped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    net = DROPPING[name]().to("lazytensor")
    again = copy.deepcopy(net)
    few = LENGTHS[::3]  # without padding each is a program that takes seconds to compile
    found = losses(net, "lazytensor", True, few)
    assert metrics.snapshot()["padded"] == len(few) - 2
    monkeypatch.setattr(settings, "padding", False)
    assert losses(again, "lazytensor", True, few) == pytest.approx(found, rel=1e-5)
    assert metrics.snapshot()["padded"] == 0
