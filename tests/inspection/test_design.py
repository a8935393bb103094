"""The design stays short and has no measured number; files that any page names exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DESIGN = DOCS / "design.md"
BYTES_BOUND = 14_000
UNITS = [
    *("ns", "µs", "us", "ms", "s", "min", "h"),
    *("B", "kB", "KB", "MB", "MiB", "GB", "GiB"),
    *("%", "×", "x", "times", "ulp", "GFLOP/s"),
]
MEASURED = re.compile(rf"[\d⁰¹²³⁴⁵⁶⁷⁸⁹]\s?(?:{'|'.join(map(re.escape, UNITS))})(?!\w)")
"""A number with a unit of time, memory or speed, or one that compares."""
NAMED = re.compile(r"`((?:lazytensor/)?(?:core|backends|frontends|inspection)/[\w/]*(?:/|\.py))`")
PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


def test_the_design_is_short() -> None:
    assert len(DESIGN.read_bytes()) <= BYTES_BOUND


def test_the_design_has_no_measured_number() -> None:
    """Numbers age. They stand in the decisions and in the performance log."""
    assert MEASURED.findall(DESIGN.read_text()) == []


@pytest.mark.parametrize(
    "text", ["1.0 µs", "30 ns.", "5.7× NumPy", "14 %", "2 GB", "20 times", "2²¹ B"]
)
def test_a_measured_number_is_found(text: str) -> None:
    assert MEASURED.search(f"It takes {text} a call")


@pytest.mark.parametrize("text", ["two calls", "`x[1:]`", "f64", "005-automatic", "1 step"])
def test_what_is_no_measured_number_is_left_alone(text: str) -> None:
    assert not MEASURED.search(text)


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    named = {name.removeprefix("lazytensor/") for name in NAMED.findall((DOCS / page).read_text())}
    assert sorted(name for name in named if not (ROOT / "lazytensor" / name).exists()) == []


def test_the_pages_name_files() -> None:
    """Most of them do. Otherwise the pattern finds no names."""
    assert sum(bool(NAMED.search((DOCS / page).read_text())) for page in PAGES) > len(PAGES) / 2
