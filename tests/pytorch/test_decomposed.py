"""Operations that torch decomposes: what a call is refused for does not depend on calls before it.

From a legal call on torch finds the decomposition at once, which does not look at its arguments.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

import lazytensor.torch  # noqa: F401 -- registers the device
from tests.pytorch.agreement import numbers, raised

Call = Callable[..., Any]


def padded(mode: str) -> Call:
    return lambda x, *pad: functional.pad(x, pad, mode=mode)


def scaled(mode: str) -> Call:
    return lambda x, *size: functional.interpolate(x, size, mode=mode)


CALLS: dict[str, tuple[Call, tuple[Any, ...], tuple[Any, ...]]] = {
    "reflect 1-D": (padded("reflect"), ((1, 2, 4), 2, 0), ((1, 2, 2), 2, 0)),
    "reflect 3-D": (
        padded("reflect"), ((1, 1, 2, 2, 4), 2, 0, 0, 0, 0, 0), ((1, 1, 2, 2, 2), 2, 0, 0, 0, 0, 0),
    ),
    "replicate 1-D": (padded("replicate"), ((1, 2, 3), 2, 2), ((1, 2, 0), 2, 2)),
    "replicate 2-D": (
        padded("replicate"), ((1, 1, 2, 2), 2, 2, 2, 2), ((1, 1, 0, 2), 2, 2, 2, 2),
    ),
    "glu": (functional.glu, ((4, 6), 0), ((3, 6), 0)),
    "nearest": (scaled("nearest"), ((1, 2, 3), 6), ((1, 2, 3), 0)),
    "bilinear": (scaled("bilinear"), ((1, 2, 3, 3), 6, 6), ((1, 2, 0, 3), 6, 6)),
    "bicubic": (scaled("bicubic"), ((1, 2, 3, 3), 6, 6), ((1, 2, 3, 3), 6, -1)),
    "pixel_shuffle": (functional.pixel_shuffle, ((1, 4, 2, 2), 2), ((1, 6, 2, 2), 2)),
    "renorm": (torch.renorm, ((3, 3), 2, 0, 1.0), ((3, 3), -2, 0, 1.0)),
}  # fmt: skip
"""An operation, the shape and the rest of a legal call, and of one that is refused."""


@pytest.mark.parametrize("name", CALLS)
def test_a_legal_call_makes_no_other_one_legal(name: str) -> None:
    call, (good, *args), (bad, *others) = CALLS[name]

    def refused(device: str) -> Any:
        return call(numbers(device, *bad), *others)

    for _ in range(3):  # calls of a kind are remembered
        call(numbers("lazytensor", *good), *args)
        assert raised(refused, "lazytensor") == raised(refused, "cpu")
