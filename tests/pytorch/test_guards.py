"""What only data can tell is refused once a result is looked at, as torch refuses it on the CPU."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch.nn import functional

from lazytensor.core.observe import metrics
from tests.pytorch.agreement import Program, check, numbers


def whole(device: str, *values: int) -> torch.Tensor:
    return torch.tensor(values, device=device)


def number(device: str, value: float) -> torch.Tensor:
    return torch.tensor([value], device=device)


def fraction(device: str, x: float, target: float) -> torch.Tensor:
    return functional.binary_cross_entropy(number(device, x), number(device, target))


def bag(device: str, indices: tuple[int, ...], offsets: tuple[int, ...], **how: Any) -> Any:
    table = numbers(device, 3, 2)
    return functional.embedding_bag(whole(device, *indices), table, whole(device, *offsets), **how)


def unpooled(device: str, n: int, place: int) -> torch.Tensor:
    x = numbers(device, 1, 1, *(1,) * n)
    places = torch.full(x.shape, place, device=device)
    made: torch.Tensor = getattr(functional, f"max_unpool{n}d")(x, places, 2)
    return made


REFUSED: dict[str, tuple[Program, str]] = {
    "a class below 0": (lambda d: functional.one_hot(whole(d, -1, 2)), "must be non-negative"),
    "a class below 0 of four": (
        lambda d: functional.one_hot(whole(d, -1, 2), 4), "must be non-negative",
    ),
    "too few classes": (
        lambda d: functional.one_hot(whole(d, 0, 3), 2), "must be smaller than num_classes",
    ),
    **{
        f"an input of {value}": (
            lambda d, value=value: fraction(d, value, 1.0),
            "all elements of input should be between 0 and 1",
        )
        for value in (1.5, -0.5, float("nan"))
    },
    "a target beyond 1": (
        lambda d: fraction(d, 0.5, 1.5),
        "all elements of target should be between 0 and 1",
    ),
    "a label": (lambda d: functional.nll_loss(numbers(d, 2, 3), whole(d, 3, 0)), "out of bounds"),
    "a label below 0": (
        lambda d: functional.cross_entropy(numbers(d, 1, 3), whole(d, -1)), "out of bounds",
    ),
    "a label of an image": (
        lambda d: functional.nll_loss(numbers(d, 1, 3, 1, 2), whole(d, 3, 0).view(1, 1, 2)),
        "out of bounds",
    ),
    "a row": (lambda d: functional.embedding(whole(d, 3), numbers(d, 3, 2)), "index out of range"),
    **{
        f"a row of a bag, {mode}": (
            lambda d, mode=mode: bag(d, (1, 7), (0,), mode=mode, padding_idx=0),
            "Expected idx >= 0 && idx < num_embeddings",
        )
        for mode in ("sum", "mean", "max")
    },
    "a bag that begins late": (lambda d: bag(d, (1, 0), (1,)), r"offsets\[0\] has to be 0"),
    "a bag that begins beyond": (
        lambda d: bag(d, (1, 0), (0, 3)), r"offsets\[-1\] can not be greater than input's length 2",
    ),
    "a bag that ends beyond": (
        lambda d: bag(d, (1, 0), (0, 5), include_last_offset=True), r"offsets\[-1\] can not be",
    ),
    **{
        f"a place of {place} in {n}-D": (
            lambda d, n=n, place=place: unpooled(d, n, place), "Found an invalid max index",
        )
        for n in (1, 2, 3)
        for place in (-1, 2**n)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_as_on_the_cpu(name: str) -> None:
    program, words = REFUSED[name]
    with pytest.raises((RuntimeError, IndexError), match=words) as theirs:
        program("cpu")
    for _ in range(2):
        with pytest.raises(theirs.type, match=words) as ours:
            program("lazytensor").tolist()
        assert re.search(re.escape(__file__), str(ours.value))


KEPT: dict[str, Program] = {
    "labels that are ignored": lambda d: functional.nll_loss(
        numbers(d, 2, 3, 2), whole(d, -100, 1, 2, 0).view(2, 2), ignore_index=-100
    ),
    "images of labels": lambda d: functional.nll_loss(
        numbers(d, 2, 3, 2, 1), whole(d, 2, 1, 2, 0).view(2, 2, 1), weight=numbers(d, 3) + 2
    ),
    "losses of images": lambda d: functional.nll_loss(
        numbers(d, 2, 3, 2, 1), whole(d, 2, 1, 2, 0).view(2, 2, 1), reduction="none"
    ),
    "cross entropy at the ends": lambda d: functional.binary_cross_entropy(
        torch.tensor([0.0, 1.0, 0.25], device=d), torch.tensor([1.0, 1.0, 0.5], device=d)
    ),
    "weighed cross entropy": lambda d: functional.binary_cross_entropy(
        numbers(d, 2, 3).sigmoid(), numbers(d, 2, 3).sigmoid(), numbers(d, 2, 1), reduction="none"
    ),
    "one_hot": lambda d: functional.one_hot(whole(d, 2, 0, 1).view(3, 1)),
    "one_hot of a number": lambda d: functional.one_hot(torch.tensor(1, device=d), 3),
    "one_hot of nothing": lambda d: functional.one_hot(whole(d, 1)[:0].view(2, 0), 3),
    "one_hot of a batch": lambda d: torch.vmap(lambda x: functional.one_hot(x, 3))(
        whole(d, 2, 0, 1)
    ),
    **{
        f"maxima put back, {n}-D": lambda d, n=n: unpooled(d, n, 2**n - 1)  # type: ignore[misc]
        for n in (1, 2, 3)
    },
    "bags": lambda d: bag(d, (1, 0, 2), (0, 1, 1)),
    "bags that end": lambda d: bag(d, (1, 0, 2), (0, 1, 3), include_last_offset=True),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_right_is_as_on_the_cpu(name: str) -> None:
    check(KEPT[name])


def test_checks_cost_no_cut() -> None:
    x = numbers("lazytensor", 4).sigmoid()
    classes = whole("lazytensor", 0, 1, 1, 0)
    before = metrics.snapshot()["cuts"]
    loss = functional.binary_cross_entropy(x, functional.one_hot(classes, 2)[:, 0].float())
    loss = loss + functional.nll_loss(x.view(2, 2), classes[:2])
    assert loss.isfinite()
    assert metrics.snapshot()["cuts"] == before + 1
