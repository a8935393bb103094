"""`ctc_loss` and its gradient, against torch's on the CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from torch.nn.functional import ctc_loss

from lazytensor.core.observe.metrics import counts
from lazytensor.core.settings import settings
from tests.pytorch.agreement import check, raised, result

TIMES, COUNT, CLASSES = 9, 3, 5


class Case(NamedTuple):
    """Labels, and the lengths of inputs and labels; what else `ctc_loss` is told."""

    labels: list[Any]
    steps: tuple[int, ...]
    lengths: tuple[int, ...]
    options: dict[str, Any] = {}


ROWS = [[1, 2, 2], [3, 1, 4], [4, 4, 4]]
CASES = {
    "rows": Case(ROWS, (9, 8, 9), (3, 2, 1)),
    "what fills up is anything": Case([[1, 2, 99], [3, -1, -1], [4, 4, 4]], (9, 8, 9), (2, 1, 3)),
    "one line": Case([1, 2, 2, 3, 4], (9, 7, 5), (3, 1, 1)),
    "another blank": Case([[0, 0, 1]] * 3, (9, 5, 3), (3, 3, 2), {"blank": 3}),
    "no label": Case(ROWS, (9, 8, 1), (0, 0, 0), {"reduction": "sum"}),
    "impossible": Case(ROWS, (2, 9, 4), (3, 3, 3), {"reduction": "none"}),
    "impossible ones are nothing": Case(ROWS, (2, 9, 0), (3, 3, 1), {"zero_infinity": True}),
    "no time": Case(ROWS, (0, 0, 9), (0, 1, 2), {"zero_infinity": True, "reduction": "sum"}),
}
DTYPES = [torch.float32, torch.float64]


def loss_and_slope(case: Case, device: str, dtype: torch.dtype, labels: torch.dtype) -> Any:
    torch.manual_seed(0)
    logits = torch.randn(TIMES, COUNT, CLASSES, dtype=dtype).to(device).requires_grad_()
    given = torch.tensor(case.labels, dtype=labels).to(device)
    log_probs = logits.log_softmax(2)
    loss = ctc_loss(log_probs, given, case.steps, case.lengths, **case.options)
    weights = torch.linspace(1, 2, loss.numel(), dtype=dtype).view(loss.shape).to(device)
    (slope,) = torch.autograd.grad(loss, logits, weights)
    return loss, slope


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values(case: Case, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    for labels in (torch.int64, torch.int32):
        mine, theirs = (
            result(lambda there, labels=labels: loss_and_slope(case, there, dtype, labels), device)
            for device in ("lazytensor", "cpu")
        )
        torch.testing.assert_close(mine, theirs, equal_nan=True)  # what is impossible has no slope


def test_lengths_are_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    case, dtypes = CASES["rows"], (torch.float32, torch.int64)
    check(lambda device: loss_and_slope(case, device, *dtypes))
    compiles = counts["compiles"]
    other = case._replace(steps=(5, 9, 7), lengths=(2, 3, 0))
    check(lambda device: loss_and_slope(other, device, *dtypes))
    assert counts["compiles"] == compiles


def test_errors() -> None:
    """What torch's own kernel says of lengths and labels that do not fit."""
    wrong = {
        "steps too long": CASES["rows"]._replace(steps=(10, 8, 9)),
        "steps missing": CASES["rows"]._replace(steps=(9, 8)),
        "label too long": CASES["rows"]._replace(lengths=(4, 2, 1)),
        "below zero": CASES["rows"]._replace(lengths=(-1, 2, 1)),
        "lines": CASES["one line"]._replace(lengths=(3, 1, 2)),
        "blank": CASES["rows"]._replace(options={"blank": CLASSES}),
        "rows missing": CASES["rows"]._replace(labels=ROWS[:2]),
    }
    for name, case in wrong.items():
        mine, theirs = (
            raised(lambda d, case=case: loss_and_slope(case, d, torch.float32, torch.int64), device)
            for device in ("lazytensor", "cpu")
        )
        assert mine == theirs, name
