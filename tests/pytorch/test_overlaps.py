"""What is written to may share no elements with an operand, where torch says so on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, check, numbers


def shifted(write: Callable[[Any, Any], Any]) -> Program:
    """A program that writes to all but the first element what all but the last are."""
    return lambda d: (lambda x: write(x[1:], x[:-1]))(numbers(d, 4))


def flags(device: str, count: int) -> torch.Tensor:
    return (torch.arange(count) % 2 == 0).to(device)


def places(device: str) -> torch.Tensor:
    return torch.tensor([2, 1, 0], device=device)


PARTLY: dict[str, Program] = {
    "add_": shifted(lambda x, y: x.add_(y)),
    "addcmul_": shifted(lambda x, y: x.addcmul_(y, x)),
    "copy_": shifted(lambda x, y: x.copy_(y)),
    "clamp_": shifted(lambda x, y: x.clamp_(y)),
    "out": shifted(lambda x, y: torch.exp(x, out=y)),
    "masked_fill_": lambda d: (lambda x: x[1:].masked_fill_(x[:-1], False))(flags(d, 4)),
    "an element": lambda d: (lambda x: x.add_(x[0]))(numbers(d, 4)),
    "a transpose": lambda d: (lambda x: x.mul_(x.T))(numbers(d, 4, 4)),
    "a transpose copied": lambda d: (lambda x: x.copy_(x.T))(numbers(d, 4, 4)),
}

ALONE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "index_add_": lambda x, at, source: x.index_add_(0, at, source),
    "index_copy_": lambda x, at, source: x.index_copy_(0, at, source),
    "index_reduce_": lambda x, at, source: x.index_reduce_(0, at, source, "amax"),
    "index_put_": lambda x, at, source: x.index_put_((at,), source),
    "put_": lambda x, at, source: x.put_(at, source),
    "scatter_": lambda x, at, source: x.scatter_(0, at, source),
    "scatter_, adding": lambda x, at, source: x.scatter_(0, at, source, reduce="add"),
    "scatter_add_": lambda x, at, source: x.scatter_add_(0, at, source),
    "scatter_reduce_": lambda x, at, source: x.scatter_reduce_(0, at, source, "amax"),
}
"""Writes of a source to places, whose target may be neither."""

SHARED: dict[str, Callable[[str, Any], Any]] = {
    "the source is a part": lambda d, write: (lambda x: write(x, places(d), x[:3]))(numbers(d, 6)),
    "the source is the target": lambda d, write: (lambda x: write(x, x.clone(), x))(places(d)),
    "the places are the target": lambda d, write: (lambda x: write(x, x, x.clone()))(places(d)),
}

WHOLLY: dict[str, Program] = {
    f"{name}: {way}": lambda d, write=write, share=share: share(d, write)  # type: ignore[misc]
    for name, write in ALONE.items()
    for way, share in SHARED.items()
} | {
    "index_fill_": lambda d: (lambda x: x.index_fill_(0, x, 0))(places(d)),
    "scatter_ of a number": lambda d: (lambda x: x.scatter_(0, x, 1))(places(d)),
    "an element assigned": lambda d: (lambda x: x.__setitem__(places(d), x[0]))(numbers(d, 6)),
}

APART: dict[str, Program] = {
    "itself": lambda d: (lambda x: x.add_(x))(numbers(d, 4)),
    "every second": lambda d: (lambda x: x[::2].mul_(x[1::2]))(numbers(d, 4)),
    "halves": lambda d: (lambda x: x[2:].mul_(x[:2]))(numbers(d, 4)),
    "another view": lambda d: (lambda x: x.add_(x.view(2, 2).view(4)))(numbers(d, 4)),
    "masked_fill_": lambda d: (lambda x: x.masked_fill_(flags(d, 4), x[0]))(numbers(d, 4)),
    "halves by places": lambda d: (lambda x: x[:3].index_add_(0, places(d), x[3:]))(numbers(d, 6)),
    "every second by places": lambda d: (lambda x: x[::2].index_add_(0, places(d), x[1::2]))(
        numbers(d, 6)
    ),
}


@pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter", "ignore:index_reduce")
@pytest.mark.parametrize("name", PARTLY | WHOLLY)
def test_it_raises_what_it_raises_on_the_cpu(name: str) -> None:
    program = (PARTLY | WHOLLY)[name]
    assert agreement.raised(program, "lazytensor") == agreement.raised(program, "cpu")


@pytest.mark.parametrize("name", APART)
def test_what_does_not_overlap_is_written(name: str) -> None:
    check(APART[name])
