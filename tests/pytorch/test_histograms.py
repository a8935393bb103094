"""Histograms of points, against torch's on the CPU: values, edges and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.pytorch.agreement import check, raised

POINTS = [[0.1, 0.9], [0.5, 0.5], [0.25, 0.0], [1.0, 1.0], [0.75, 0.2], [-0.5, 0.4], [0.0, 2.0]]
Given = Callable[[torch.Tensor], Any]


def points(device: str) -> torch.Tensor:
    return torch.tensor(POINTS).to(device)


def edges(x: torch.Tensor, *lines: list[float]) -> list[torch.Tensor]:
    return [torch.tensor(line).to(x.device) for line in lines]


HISTOGRAMS: dict[str, Given] = {
    "of data": lambda x: torch.histogramdd(x, [2, 3]),
    "in a range": lambda x: torch.histogramdd(x, [4, 5], range=[0.0, 1.0, 0.0, 0.5]),
    "one value": lambda x: torch.histogramdd(x * 0, [2, 3]),
    "no width": lambda x: torch.histogramdd(x, [2, 3], range=[0.0, 0.0, 3.0, 3.0]),
    "nothing": lambda x: torch.histogramdd(x[:0], [2, 3]),
    "density": lambda x: torch.histogramdd(x, [2, 3], density=True),
    "weights": lambda x: torch.histogramdd(x, [2, 3], weight=x[:, 0]),
    "edges": lambda x: torch.histogramdd(x, edges(x, [0.0, 0.5, 1.0], [0.0, 0.2, 0.9])),
    "shapes": lambda x: torch.histogramdd(x.repeat(2, 1).reshape(2, 7, 2), [2, 3]),
    "line": lambda x: torch.histogram(x, 3),
    "line, no width": lambda x: torch.histogram(x, 3, range=(0.0, 0.0)),
    "line, nothing": lambda x: torch.histogram(x[:0], 3),
    "counts": lambda x: torch.histc(x, 3),
    "counts between equal bounds": lambda x: torch.histc(x, 3, 2, 2),
    "counts of one value": lambda x: torch.histc(x * 0, 3),
}  # fmt: skip


@pytest.mark.parametrize("given", HISTOGRAMS.values(), ids=HISTOGRAMS)
def test_values(given: Given) -> None:
    check(lambda device: given(points(device)))


@pytest.mark.parametrize("limits", [(), (0, 10), (-2, 7), (2, 2)], ids=str)
def test_integers_are_counted_as_floats_are(limits: tuple[int, ...]) -> None:
    """Torch's CPU takes none; other devices do, and models count on it (mixtures of experts)."""
    x = torch.tensor([0, 1, 1, 3, 5, 7, 7, -2])
    found = torch.histc(x.int().to("lazytensor"), 4, *limits)
    assert found.dtype == torch.int32
    assert found.tolist() == torch.histc(x.float(), 4, *limits).tolist()


WRONG: dict[str, Given] = {
    "range": lambda x: torch.histogramdd(x, [2, 3], range=[0.0, 1.0, 2.0, 1.0]),
    "half a range": lambda x: torch.histogramdd(x, [2, 3], range=[0.0, 1.0]),
    "axes": lambda x: torch.histogramdd(x[0], [2]),
    "dtype": lambda x: torch.histogramdd(x.long(), [2, 3]),
    "weights": lambda x: torch.histogramdd(x, [2, 3], weight=x),
    "dtype of weights": lambda x: torch.histogramdd(x, [2, 3], weight=x[:, 0].double()),
    "dtype of edges": lambda x: torch.histogramdd(x.double(), edges(x, [0.0, 0.5], [0.0, 0.2])),
    "too few edges": lambda x: torch.histogramdd(x, edges(x, [0.0, 0.5])),
    "axes of edges": lambda x: torch.histogramdd(x, [x, x]),
    "no edges": lambda x: torch.histogramdd(x, edges(x, [0.0, 0.5], [])),
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
def test_errors(given: Given) -> None:
    mine, theirs = (raised(lambda d: given(points(d)), d) for d in ("lazytensor", "cpu"))
    assert mine == theirs


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_range_that_is_not_finite(value: float) -> None:
    there = torch.tensor([1.0, value]).to("lazytensor")
    for histogram in (torch.histogram, torch.histc):
        made = histogram(there, 3)
        with pytest.raises(RuntimeError, match="range is not finite"):
            (made[0] if isinstance(made, tuple) else made).cpu()
