"""Programs that are run on the device and on the CPU, and have to give or raise the same."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

import lazytensor.torch  # noqa: F401 -- registers the device

Program = Callable[[str], Any]


def numbers(device: str, *shape: int, grad: bool = False) -> torch.Tensor:
    """A tensor of its own, with values from -1 to 2."""
    made = torch.linspace(-1, 2, torch.Size(shape).numel()).view(shape).clone().to(device)
    return made.requires_grad_(grad)


def net(device: str) -> nn.Sequential:
    """A small network, the same each time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 3)).to(device)


def text(error: BaseException) -> str:
    """An error's text with the CPU's name for the device."""
    typed = re.sub(r"lazytensor(\w+)Type", r"torch.\1Tensor", str(error))
    return typed.replace("lazytensor", "cpu")


def result(program: Program, device: str) -> Any:
    """What the program gives, on the host."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TypedStorage is deprecated")
        made = program(device)
    return tree_map(lambda x: x.detach().cpu() if isinstance(x, torch.Tensor) else x, made)


def check(program: Program) -> None:
    """Give the same on both."""
    torch.testing.assert_close(result(program, "lazytensor"), result(program, "cpu"))


def raised(program: Program, device: str) -> tuple[type, str]:
    """The class and the text of the program's error."""
    try:
        program(device)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return type(error), text(error)
    raise AssertionError(f"nothing is raised on {device}")
