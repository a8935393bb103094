"""Random NumPy programs: the same with ours, line by line, whatever the cuts."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import MESHES, main
from tests.fuzz.walk import SMALL, Failure, leaving_small, replay, shrunk, splitting, walk

CORPUS = (Path(__file__).parent / "corpus.txt").read_text().split("\n\n")
numbers = st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=40)


@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])  # lines shrink better than numbers
@pytest.mark.parametrize("small", SMALL)
@given(numbers)
def test_random_programs_equal_numpy(small: int, program: list[int]) -> None:
    try:
        with leaving_small(small):
            walk(program)
    except Failure as failure:
        with leaving_small(small):
            pytest.fail(str(shrunk(failure)))


@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(numbers)
def test_split_programs_equal_numpy(program: list[int]) -> None:
    """Every second new array is split over the devices of a mesh."""
    try:
        with leaving_small(0), splitting(*MESHES):
            walk(program)
    except Failure as failure:
        with leaving_small(0), splitting(*MESHES):
            pytest.fail(str(shrunk(failure)))


@pytest.mark.parametrize("program", CORPUS)
def test_what_went_wrong_before(program: str) -> None:
    small = re.search(r"^#.* small (\d+)$", program, re.MULTILINE)
    lines = [line for line in program.splitlines() if not line.startswith("#")]
    with leaving_small(int(small[1])) if small else nullcontext():
        replay(lines)


def test_long_walks_are_lazy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By themselves: whatever is small outside of them."""
    with leaving_small(16384):
        monkeypatch.setattr("sys.argv", ["fuzz", "--steps=600"])
        assert main() == 0
    counted = re.search(r"(\d+) steps, (\d+) operations recorded", capsys.readouterr().out)
    assert counted
    steps, recorded = map(int, counted.groups())
    assert recorded > steps >= 600
