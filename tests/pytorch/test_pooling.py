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
    (5, 1, 2, 1, False),  # many windows share an element, so it is scattered
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


FRACTIONAL: list[tuple[Any, ...]] = [
    # shape, size, windows
    ((2, 3, 9, 7), (2, 3), (4, 2)),
    ((3, 8, 8), (3, 1), (1, 8)),
    ((2, 1, 5, 6, 7), (2, 2, 3), (3, 4, 2)),
    ((2, 5, 6, 4), (1, 3, 2), (4, 2, 1)),
    ((0, 2, 5, 5), (2, 2), (2, 2)),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("window", FRACTIONAL, ids=str)
def test_fractional(window: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, size, count = window
    n = len(size)
    torch.manual_seed(0)
    x = torch.randint(0, 40, shape).to(dtype)
    batch = shape[:2] if len(shape) == n + 2 else (1, shape[0])
    samples = torch.rand(*batch, n, dtype=dtype)
    pool = {2: F.fractional_max_pool2d_with_indices, 3: F.fractional_max_pool3d_with_indices}[n]
    found = []
    for device in ("cpu", "lazytensor"):
        given = x.clone().to(device).requires_grad_()
        made, at = pool(given, size, count, _random_samples=samples.to(device))
        grad = torch.arange(1.0, made.numel() + 1, dtype=dtype).reshape(made.shape)
        made.backward(grad.to(device))
        assert given.grad is not None
        found.append([t.cpu() for t in (made.detach(), at, given.grad)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def images(device: str, *shape: int) -> torch.Tensor:
    made = torch.arange(float(torch.Size(shape).numel())).view(shape).to(device)
    return made.to(memory_format=torch.channels_last)


GEOMETRIES: dict[str, Any] = {
    "channels last": lambda d: images(d, 2, 4, 6, 6),
    "every second channel": lambda d: images(d, 2, 4, 6, 6)[:, ::2],
    "some channels": lambda d: images(d, 2, 4, 6, 6)[:, 1:3],
    "some columns": lambda d: images(d, 2, 4, 6, 6)[..., 1:5],
    "every second row": lambda d: images(d, 2, 4, 6, 6)[:, :, ::2],
    "one channel of several": lambda d: images(d, 2, 4, 6, 6)[:, :1],
    "one image": lambda d: images(d, 1, 4, 6, 6)[:, ::2],
    "a channel repeated": lambda d: images(d, 2, 1, 6, 6).expand(2, 4, 6, 6),
    "rows and columns swapped": lambda d: images(d, 2, 4, 6, 6).mT,
    "rows with gaps": lambda d: torch.ones(2, 4, 6, 12, device=d)[..., ::2],
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_pooled_images_lie_as_on_the_cpu(name: str) -> None:
    def strides(device: str) -> list[Any]:
        x = GEOMETRIES[name](device)
        pooled = F.max_pool2d(x, 2, return_indices=True), F.adaptive_max_pool2d(x, 2)
        made = [*pooled[0], pooled[1], F.avg_pool2d(x, 2)]
        return [y.stride() for y in made]

    assert strides("lazytensor") == strides("cpu")


SINGLE: dict[str, Any] = {
    "largest": lambda x: F.max_pool3d(x, 2, return_indices=True),
    "mean": lambda x: F.avg_pool3d(x, 2),
    "largest, adaptive": lambda x: F.adaptive_max_pool3d(x, 2),
}


@pytest.mark.parametrize("name", SINGLE)
def test_an_image_without_a_batch_keeps_its_format_where_torchs_does(name: str) -> None:
    x = torch.arange(6.0 * 12 * 13 * 14).view(1, 6, 12, 13, 14)
    x = x.contiguous(memory_format=torch.channels_last_3d)
    found = []
    for device in ("cpu", "lazytensor"):
        made = SINGLE[name](x.to(device).squeeze(0))
        found.append([(t.cpu(), t.stride()) for t in (made if isinstance(made, tuple) else [made])])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("shape", [(0, 10), (0, 3, 10), (0, 3, 10, 10)], ids=str)
def test_the_gradient_of_no_image(shape: tuple[int, ...]) -> None:
    for device in ("cpu", "lazytensor"):
        x = torch.ones(shape, device=device, requires_grad=True)
        pool = F.adaptive_avg_pool1d if len(shape) < 4 else F.adaptive_avg_pool2d
        pool(x, 5).sum().backward()
        assert x.grad is not None
        assert x.grad.shape == shape
