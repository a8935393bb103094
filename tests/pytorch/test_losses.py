"""Losses where torch's decompositions of them differ from its kernels: values, dtypes, edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.pytorch import agreement
from tests.pytorch.agreement import numbers

Loss = Callable[..., Any]
NAN, INF = float("nan"), float("inf")
REDUCTIONS = ["none", "mean", "sum"]

LABELS = {
    "the end in the middle": [[3, 0, -1, 1]],
    "several rows": [[3, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]],
    "a label twice": [[3, 3, -1, 1]],
    "a line": [3, 0, -1, 1],
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", LABELS)
def test_several_labels_each(name: str, reduction: str) -> None:
    def program(device: str) -> Any:
        target = torch.tensor(LABELS[name], device=device)
        x = numbers(device, *target.shape, grad=True)
        loss = functional.multilabel_margin_loss(x, target, reduction=reduction)
        loss.sum().backward()
        return loss, x.grad

    agreement.check(program)


def test_labels_of_the_manual() -> None:
    x = torch.tensor([[0.1, 0.2, 0.4, 0.8]], device="lazytensor")
    y = torch.tensor([[3, 0, -1, 1]], device="lazytensor")
    assert functional.multilabel_margin_loss(x, y).item() == pytest.approx(0.85)


CLASSES: dict[str, tuple[tuple[int, ...], Any]] = {
    "rows": ((4, 3), [0, 1, 2, 2]),
    "a line": ((3,), 1),
    "a line, with a target in a line": ((3,), [1]),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("name", CLASSES)
def test_one_class_each(name: str, p: int, reduction: str) -> None:
    def program(device: str) -> Any:
        shape, target = CLASSES[name]
        x = numbers(device, *shape, grad=True)
        weight = torch.tensor([1.0, 0.2, 3.0], device=device)
        loss = functional.multi_margin_loss(
            x, torch.tensor(target, device=device), p, 0.7, weight, reduction=reduction
        )
        loss.sum().backward()
        return loss, x.grad

    agreement.check(program)


WRONG: dict[str, agreement.Program] = {
    "labels of another shape": lambda d: functional.multilabel_margin_loss(
        numbers(d, 2, 3), torch.zeros(2, 4, dtype=torch.int64, device=d)
    ),
    "labels of nothing": lambda d: functional.multilabel_margin_loss(
        numbers(d, 2, 0), torch.zeros(2, 0, dtype=torch.int64, device=d)
    ),
    "classes of another length": lambda d: functional.multi_margin_loss(
        numbers(d, 2, 3), torch.zeros(3, dtype=torch.int64, device=d)
    ),
    "another power": lambda d: functional.multi_margin_loss(
        numbers(d, 2, 3), torch.zeros(2, dtype=torch.int64, device=d), p=3
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_in_torchs_words(name: str) -> None:
    expected = agreement.raised(WRONG[name], "cpu")
    assert agreement.raised(WRONG[name], "lazytensor") == expected


@pytest.mark.parametrize("loss", [functional.multilabel_margin_loss, functional.multi_margin_loss])
def test_a_class_that_is_not_there_is_found(loss: Loss) -> None:
    target = torch.full((2, 3) if "label" in loss.__name__ else (2,), 7, device="lazytensor")
    with pytest.raises((RuntimeError, IndexError), match="out of range"):
        loss(numbers("lazytensor", 2, 3), target).item()


DIFFERENCES: dict[str, Loss] = {
    "mse": functional.mse_loss,
    "huber": functional.huber_loss,
    "huber, narrow": lambda x, y, **k: functional.huber_loss(x, y, delta=0.3, **k),
    "smooth l1": functional.smooth_l1_loss,
    "smooth l1, wide": lambda x, y, **k: functional.smooth_l1_loss(x, y, beta=3.0, **k),
}
SPECIAL = [0.0, -0.0, 1, 0.3, -0.3, 3, -3, 100, INF, -INF, NAN]


@pytest.mark.parametrize("values", [[SPECIAL], [[]]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences(name: str, reduction: str, dtype: torch.dtype, values: Any) -> None:
    def program(device: str) -> Any:
        x = torch.tensor(values, dtype=dtype, device=device, requires_grad=True)
        y = torch.zeros_like(x, requires_grad=True)
        loss = DIFFERENCES[name](x, y, reduction=reduction)
        loss.sum().backward()
        return loss, x.grad, y.grad

    found, expected = (agreement.result(program, device) for device in ("lazytensor", "cpu"))
    torch.testing.assert_close(found, expected, equal_nan=True)


FLOATS = [torch.float32, torch.float64, torch.bfloat16]


@pytest.mark.parametrize("other", [*FLOATS, torch.int64])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["mse", "huber", "smooth l1"])
def test_targets_of_other_dtypes(name: str, dtype: torch.dtype, other: torch.dtype) -> None:
    def program(device: str) -> Any:
        x = numbers(device, 6).to(dtype).requires_grad_()
        loss = DIFFERENCES[name](x, torch.arange(6, device=device).to(other))
        if name == "mse":
            loss.backward()
        return loss, x.grad

    agreement.check(program)


@pytest.mark.parametrize("name", ["mse", "huber"])
def test_derivatives_of_two_orders(name: str) -> None:
    x = torch.linspace(-3, 3, 7, dtype=torch.float64, device="lazytensor", requires_grad=True)
    y = torch.zeros(7, dtype=torch.float64, device="lazytensor", requires_grad=True)
    assert torch.autograd.gradcheck(DIFFERENCES[name], (x + 0.05, y + 0.01))
    assert torch.autograd.gradgradcheck(DIFFERENCES[name], (x + 0.05, y + 0.01))


def test_the_slope_at_nan_is_torchs() -> None:
    def program(device: str) -> Any:
        x = torch.tensor([NAN, 1.0, -1.0, 0.0], device=device, requires_grad=True)
        (functional.relu(x) + functional.threshold(x, 0.5, 2.0)).sum().backward()
        return x.grad

    agreement.check(program)


@pytest.mark.parametrize("given", [(5,), (1,), (0,), (5, False, 3.0), (6, True, 8.0)])
def test_kaiser_windows(given: Any) -> None:
    agreement.check(lambda device: torch.kaiser_window(*given, device=device))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["rows", "a line"])
def test_classes_may_be_bytes(name: str, reduction: str) -> None:
    def program(device: str) -> Any:
        shape, target = CLASSES[name]
        x = numbers(device, *shape, grad=True)
        classes = torch.tensor(target, device=device, dtype=torch.uint8)
        loss = functional.nll_loss(x.log_softmax(-1), classes, reduction=reduction)
        loss.sum().backward()
        return loss, x.grad

    agreement.check(program)
