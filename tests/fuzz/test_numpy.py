"""Random NumPy programs: the same with ours, line by line, whatever the cuts."""

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.walk import Failure, replay, shrunk, walk

CORPUS = (Path(__file__).parent / "corpus.txt").read_text().split("\n\n")
numbers = st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=40)


@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])  # lines shrink better than numbers
@given(numbers)
def test_random_programs_equal_numpy(program: list[int]) -> None:
    try:
        walk(program)
    except Failure as failure:
        pytest.fail(str(shrunk(failure)))


@pytest.mark.parametrize("program", CORPUS)
def test_what_went_wrong_before(program: str) -> None:
    replay([line for line in program.splitlines() if not line.startswith("#")])
