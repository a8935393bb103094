"""Which of PyTorch's test files are run, and which of their tests correspond."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent

FILES: Final = (
    "test_reductions.py",
    "test_type_promotion.py",
    "test_tensor_creation_ops.py",
    "test_indexing.py",
    "test_view_ops.py",
    "test_shape_ops.py",
    "test_scatter_gather_ops.py",
    "test_sort_and_select.py",
    "nn/test_embedding.py",
    "nn/test_pooling.py",
    "nn/test_convolution.py",
    "test_nn.py",
    "test_torch.py",
    "test_linalg.py",
    "test_optim.py",
    "test_autograd.py",
)
"""Paths in PyTorch's folder `test`."""

DEVICE: Final = re.compile(r"(PRIVATEUSE1|LAZYTENSOR)$")
"""How the name of a class ends that torch has made for this device."""
CPU: Final = re.compile(r"CPU$")


def is_for(test: str, device: re.Pattern[str]) -> bool:
    """Whether a test's id names a class that torch has made for this device."""
    parts = test.split("::")
    return len(parts) > 1 and device.search(parts[1]) is not None


def cpus(test: str) -> str:
    """The id of the CPU's test that corresponds to a device's."""
    file, name, function = test.split("::")
    return "::".join([file, DEVICE.sub("CPU", name), _LAZY.sub("_cpu", function)])


_LAZY: Final = re.compile(r"_lazytensor(?=_|$)")
