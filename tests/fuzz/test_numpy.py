"""Random NumPy programs: the same with ours, line by line, whatever the cuts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import lazytensor
from lazytensor.frontends.numpy import parts
from tests.fuzz.walk import Failure, replay, shrunk, walk

CORPUS = (Path(__file__).parent / "corpus.txt").read_text().split("\n\n")
numbers = st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=40)


@contextmanager
def leaving_small(elements: int) -> Iterator[None]:
    """Arrays of fewer elements stay NumPy's own, and memory is lent at the first read."""
    before, lazytensor.settings.small = lazytensor.settings.small, elements
    patience, parts.PATIENCE = parts.PATIENCE, 0
    try:
        yield
    finally:
        lazytensor.settings.small, parts.PATIENCE = before, patience


@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])  # lines shrink better than numbers
@pytest.mark.parametrize("small", [0, 5, 14])
@given(numbers)
def test_random_programs_equal_numpy(small: int, program: list[int]) -> None:
    try:
        with leaving_small(small):
            walk(program)
    except Failure as failure:
        with leaving_small(small):
            pytest.fail(str(shrunk(failure)))


@pytest.mark.parametrize("program", CORPUS)
def test_what_went_wrong_before(program: str) -> None:
    replay([line for line in program.splitlines() if not line.startswith("#")])
