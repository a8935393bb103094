"""Reductions: dtypes, axes, and what torch refuses or warns of."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, check, numbers


def bytes_(device: str) -> torch.Tensor:
    return torch.tensor([[3, 0], [1, 1]], dtype=torch.uint8, device=device)


def flags(device: str) -> torch.Tensor:
    return torch.tensor([[True, False], [True, True]], device=device)


def axes(device: str) -> torch.Tensor:
    """A tensor of more axes than torch's reductions take."""
    return torch.ones([1] * 65, device=device)


TRUTHS: dict[str, Program] = {
    f"{name} of {kind}, {arguments}": lambda d, n=name, x=given, a=arguments: getattr(torch, n)(  # type: ignore[misc]
        x(d), **a
    )
    for name in ("all", "any")
    for kind, given in {
        "bytes": bytes_,
        "flags": flags,
        "floats": lambda d: numbers(d, 2, 2),
    }.items()
    for arguments in (
        {},
        {"dim": 1},
        {"dim": 0, "keepdim": True},
        {"dim": (0, 1)},
        {"dim": []},
        {"dim": [], "keepdim": True},
        {"dim": None},
    )
}

OF_FLAGS: dict[str, Program] = {
    "sum": lambda d: flags(d).sum(dtype=torch.bool),
    "prod": lambda d: flags(d).prod(dtype=torch.bool),
    "sum of an axis": lambda d: numbers(d, 2, 2).sum(0, dtype=torch.bool),
    "prod of an axis": lambda d: flags(d).prod(0, keepdim=True, dtype=torch.bool),
}

REFUSED: dict[str, Program] = {
    **{
        f"65 axes, {name}": lambda d, f=function: f(axes(d))  # type: ignore[misc]
        for name, function in {
            "sum": lambda x: x.sum(0),
            "sum of all": lambda x: x.sum(tuple(range(65))),
            "mean": lambda x: x.mean(-1),
            "amax": lambda x: x.amax(0),
            "max": lambda x: x.max(0),
            "argmax": lambda x: x.argmax(0),
            "all": lambda x: x.all(0),
            "std": lambda x: x.std(0),
            "logsumexp": lambda x: x.logsumexp(0),
            "norm": lambda x: torch.linalg.vector_norm(x),
            "flip": lambda x: x.flip(0),
        }.items()
    },
    "an axis twice": lambda d: numbers(d, 2, 2).flip([0, 0]),
    "argmax of flags": lambda d: flags(d).argmax(),
    "median of flags": lambda d: flags(d).median(),
    "median of lines of flags": lambda d: flags(d).median(0),
    "topk of flags": lambda d: flags(d).topk(1),
    "kthvalue of flags": lambda d: flags(d).kthvalue(1),
    "cumsum of flags": lambda d: flags(d).cumsum(0, dtype=torch.bool),
    "argmax of complex numbers": lambda d: numbers(d, 2).to(torch.complex64).argmax(),
    "sort of complex numbers": lambda d: numbers(d, 2).to(torch.complex64).sort(),
    "mean as integers": lambda d: numbers(d, 2).mean(dtype=torch.int32),
    "no bins": lambda d: numbers(d, 4).histc(0),
    "bins of no range": lambda d: numbers(d, 4).histc(4, min=0, max=float("nan")),
    "a side": lambda d: torch.searchsorted(numbers(d, 4), numbers(d, 2), side="bad"),
    "a number in lines": lambda d: torch.searchsorted(numbers(d, 2, 2), 1.0),
    "boundaries of two axes": lambda d: torch.bucketize(numbers(d, 2), numbers(d, 2, 2)),
    "no boundaries": lambda d: torch.searchsorted(torch.tensor(1.0, device=d), numbers(d, 2)),
    "search among flags": lambda d: torch.searchsorted(flags(d)[0], flags(d)[1]),
    "a short sorter": lambda d: torch.searchsorted(
        numbers(d, 4), numbers(d, 2), sorter=torch.arange(3, device=d)
    ),
    "a sorter of floats": lambda d: torch.searchsorted(
        numbers(d, 4), numbers(d, 2), sorter=numbers(d, 4)
    ),
}

WARNED: dict[str, Program] = {
    name: lambda d, n=name: getattr(torch, n)(numbers(d, 2, 3), dim=1, correction=3)  # type: ignore[misc]
    for name in ("std", "var", "std_mean", "var_mean")
}


@pytest.mark.parametrize("name", [*TRUTHS, *OF_FLAGS])
def test_flags_and_bytes_have_torchs_dtypes(name: str) -> None:
    check({**TRUTHS, **OF_FLAGS}[name])


@pytest.mark.parametrize("name", REFUSED)
def test_reductions_refuse_in_torchs_words(name: str) -> None:
    program = REFUSED[name]
    assert agreement.raised(program, "lazytensor") == agreement.raised(program, "cpu")


def texts(program: Program, device: str) -> list[str]:
    """The warnings of three calls, without torch's note of its own place."""
    given: list[Any]
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(3):
            program(device)
    return [str(w.message).partition(" (Triggered")[0] for w in given]


@pytest.mark.parametrize("name", WARNED)
def test_each_call_without_degrees_of_freedom_warns(name: str) -> None:
    found = texts(WARNED[name], "lazytensor")
    assert found == texts(WARNED[name], "cpu")
    assert len(found) == 3


def test_a_sorter_beyond_the_boundaries_is_found_when_it_is_looked_at() -> None:
    places = torch.tensor([0, 1, 4], device="lazytensor")
    found = torch.searchsorted(numbers("lazytensor", 3), 0.5, sorter=places)
    with pytest.raises(RuntimeError, match="sorter index out of range"):
        found.cpu()
