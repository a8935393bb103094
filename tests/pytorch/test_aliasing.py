"""Aliasing is torch's: strides, shared storages, values and gradients of random programs."""

from __future__ import annotations

import re
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor.frontends.torch.tensors.tensor import ref
from tests.pytorch import programs
from tests.pytorch.programs import COPIES, RESIZES, VIEWS, WRITES

ROWS = {**VIEWS, **COPIES, **WRITES, **RESIZES}
SHAPES = st.sampled_from([(6,), (2, 3), (4, 4), (3, 1, 2), (2, 3, 4), (1, 2, 2, 3)])


def base(shape: tuple[int, ...], device: str) -> torch.Tensor:
    return torch.arange(float(torch.Size(shape).numel())).view(shape).clone().to(device)


def storages(tensors: list[torch.Tensor]) -> list[int]:
    """For each tensor the first one that shares its storage."""
    places = [x.untyped_storage()._cdata for x in tensors]
    return [places.index(place) for place in places]


def text(error: Exception) -> str:
    """An error's text with the CPU's name for the device."""
    typed = re.sub(r"lazytensor(\w+)Type", r"torch.\1Tensor", str(error))
    return typed.replace("lazytensor", "cpu")


def geometry(x: torch.Tensor) -> Any:
    """What strides mean: those of axes with one element, and of no elements, mean nothing."""
    strides = [s for n, s in zip(x.shape, x.stride(), strict=True) if n != 1 and x.numel()]
    offset = x.storage_offset() if x.numel() else 0
    return x.shape, strides, offset, x.is_contiguous(), x._is_view(), x._version


def check(theirs: list[torch.Tensor], mine: list[torch.Tensor], values: bool) -> None:
    for x, y in zip(theirs, mine, strict=True):
        assert geometry(y) == geometry(x)
        assert ref(y).type.shape == x.shape
        if values:
            assert torch.equal(y.cpu(), x)
    assert storages(mine) == storages(theirs)


@given(SHAPES, programs.steps(VIEWS, COPIES, WRITES, RESIZES), st.sets(st.integers(0, 8)))
def test_programs_of_views_and_writes(
    shape: tuple[int, ...], steps: list[tuple[str, int, int, int]], barriers: set[int]
) -> None:
    theirs, mine = [base(shape, "cpu")], [base(shape, "lazytensor")]
    for place, (name, at, i, j) in enumerate(steps):
        at = -1 - at % len(theirs)
        if programs.is_undefined(name, theirs[at]):
            continue
        expected = programs.run(ROWS[name], theirs[at], i, j)
        found = programs.run(ROWS[name], mine[at], i, j)
        if isinstance(expected, Exception):
            assert type(found) is type(expected), (name, expected, found)
            assert text(found) == text(expected)
            continue
        assert isinstance(found, torch.Tensor), (name, found)
        theirs.append(expected)
        mine.append(found)
        check(theirs, mine, place in barriers)
    check(theirs, mine, True)


def backward(tensors: list[torch.Tensor]) -> None:
    torch.stack([(x * x).sum() for x in tensors]).sum().backward()


@given(SHAPES, programs.steps(VIEWS, COPIES, WRITES))
def test_gradients_of_programs_of_views_and_writes(
    shape: tuple[int, ...], steps: list[tuple[str, int, int, int]]
) -> None:
    results: list[Any] = []
    for device in ("cpu", "lazytensor"):
        leaf = base(shape, device).requires_grad_()
        tensors = [leaf * 1.5]
        raised = []
        for name, at, i, j in steps:
            given = tensors[-1 - at % len(tensors)]
            if programs.is_undefined(name, given):
                continue
            made = programs.run(ROWS[name], given, i, j)
            if isinstance(made, Exception):
                raised.append((name, type(made), text(made)))
            else:
                tensors.append(made)
        error = programs.run(backward, tensors)
        gradient = None if leaf.grad is None else leaf.grad.cpu()
        results.append((raised, error if error is None else text(error), gradient))
    (raised, error, gradient), (mine_raised, mine_error, mine) = results
    assert mine_raised == raised
    assert mine_error == error
    if gradient is not None:
        torch.testing.assert_close(mine, gradient)


def test_images_keep_the_memory_format_of_their_operands() -> None:
    strides: list[Any] = []
    for device in ("cpu", "lazytensor"):
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
            torch.nn.MaxPool2d(2), torch.nn.Conv2d(4, 5, 2), torch.nn.AvgPool2d(2),
        ).to(device).to(memory_format=torch.channels_last)  # fmt: skip
        x = base((2, 3, 12, 12), device).requires_grad_()
        made = [x.contiguous(memory_format=torch.channels_last)]
        for layer in net:
            made.append(layer(made[-1]))
        made[-1].sum().backward()
        grads = [p.grad for p in net.parameters()]
        strides.append([t.stride() for t in [*made, *net.parameters(), *grads] if t is not None])
        made[-1].permute(0, 2, 3, 1).view(-1)
    assert strides[1] == strides[0]
