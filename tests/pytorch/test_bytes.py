"""Products of bytes, as quantised layers make them, against torch's on the CPU."""

from __future__ import annotations

import pytest
import torch

from tests.pytorch.agreement import check, numbers

pytestmark = pytest.mark.usefixtures("no_fallback")


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8], ids=str)
@pytest.mark.parametrize("sizes", [(3, 4, 2), (1, 300, 5), (0, 4, 2)], ids=str)
def test_they_are_added_up_in_32_bits(sizes: tuple[int, int, int], dtype: torch.dtype) -> None:
    m, k, n = sizes
    check(
        lambda d: torch._int_mm(
            (numbers(d, m, k) * 30 + 30).to(dtype), (numbers(d, k, n) * 60).to(torch.int8)
        )
    )
