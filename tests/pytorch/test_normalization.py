"""Group norm, of images in both formats and of mixed dtypes: values, gradients, strides."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.pytorch.agreement import numbers, result

FORMATS = (torch.contiguous_format, torch.channels_last)
DTYPES = {
    "f32": (torch.float32, torch.float32),
    "f64": (torch.float64, torch.float64),
    "bf16": (torch.bfloat16, torch.bfloat16),
    "bf16, weights of f32": (torch.bfloat16, torch.float32),
    "f16, no weights": (torch.float16, None),
}


def normalized(device: str, dtypes: str, of_x: Any, of_grad: Any) -> list[Any]:
    dtype, of_weight = DTYPES[dtypes]
    x = numbers(device, 2, 4, 3, 3).to(dtype).to(memory_format=of_x).requires_grad_()
    line = None if of_weight is None else numbers(device, 4).to(of_weight).requires_grad_()
    made = functional.group_norm(x, 2, line, line)
    made.backward(numbers(device, 2, 4, 3, 3).sin().to(dtype).to(memory_format=of_grad))
    return [made, x.grad, made.stride(), x.grad.stride(), None if line is None else line.grad]


@pytest.mark.usefixtures("no_fallback")
@pytest.mark.parametrize("of_grad", FORMATS, ids=str)
@pytest.mark.parametrize("of_x", FORMATS, ids=str)
@pytest.mark.parametrize("dtypes", DTYPES)
def test_groups(dtypes: str, of_x: Any, of_grad: Any) -> None:
    found, wanted = (
        result(lambda d: normalized(d, dtypes, of_x, of_grad), device)
        for device in ("lazytensor", "cpu")
    )
    # The CPU's kernel for channels that lie last adds up in another order.
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-5 if dtypes != "bf16" else 1e-2)


def test_statistics_have_torchs_dtypes() -> None:
    for dtype, of_weight in DTYPES.values():
        found = []
        for device in ("cpu", "lazytensor"):
            x = numbers(device, 2, 4, 3, 3).to(dtype)
            line = None if of_weight is None else numbers(device, 4).to(of_weight)
            made = torch.native_group_norm(x, line, line, 2, 4, 9, 2, 1e-5)
            found.append([(t.dtype, t.shape) for t in made])
        assert found[0] == found[1]
