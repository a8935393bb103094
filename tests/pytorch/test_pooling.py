"""The largest of each window, where it is, and its gradient, are the CPU's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import lazytensor.torch  # noqa: F401 -- registers the device

WINDOWS: list[tuple[Any, ...]] = [
    # size, stride, padding, dilation, ceil
    (3, 2, 1, 1, False),
    (2, 2, 0, 1, False),
    (2, 3, 1, 1, True),
    (3, 1, 1, 2, False),
    (3, 2, 0, 2, True),
    (5, 1, 2, 1, False),  # so many windows share an element that it is scattered
    ((1, 3), (2, 1), (0, 1), (1, 2), False),
]


@pytest.mark.parametrize("after", ["nothing", "convolution"])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_largest(window: tuple[Any, ...], after: str) -> None:
    torch.manual_seed(0)
    x = torch.randint(0, 4, (2, 3, 11, 9)).float()  # many are equal: the first of them is taken
    weight = torch.eye(3).reshape(3, 3, 1, 1)
    found = []
    for device in ("cpu", "lazytensor"):
        given = x.clone().to(device).requires_grad_()
        seen = F.conv2d(given, weight.to(device)) if after == "convolution" else given
        made, at = F.max_pool2d(seen, *window, return_indices=True)
        grad = torch.arange(1.0, made.numel() + 1).reshape(made.shape)
        made.backward(grad.to(device))
        assert given.grad is not None
        found.append([t.cpu() for t in (made.detach(), at, given.grad)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=0)
