"""Where torch is not installed, these tests do not exist."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from lazytensor import metrics

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


@pytest.fixture
def no_fallback() -> Iterator[None]:
    """Nothing may be computed by torch; what is drawn is the same each time."""
    import torch

    torch.manual_seed(0)
    metrics.reset()
    yield
    assert metrics.snapshot()["fallbacks"] == 0
