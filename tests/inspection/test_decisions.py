"""The pages of decisions: all are listed, and all have the same parts."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
PAGES = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "index.md")
HEADINGS = ["Context", "Decision", "What was measured", "When to look again"]
LINES_BOUND = 60


def test_the_index_lists_every_decision_once_and_in_order() -> None:
    assert re.findall(r"\]\(([^)/]+\.md)\)", (FOLDER / "index.md").read_text()) == PAGES


def test_numbers_follow_one_another() -> None:
    assert [name[:4] for name in PAGES] == [f"{n:03}-" for n in range(1, len(PAGES) + 1)]


@pytest.mark.parametrize("name", PAGES)
def test_a_decision_has_its_four_parts(name: str) -> None:
    text = (FOLDER / name).read_text()
    title, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    assert re.fullmatch(rf"# {name[:3]} \S[^\n]+\n\n", title)
    headings, bodies = zip(*(part.split("\n", 1) for part in parts), strict=True)
    assert list(headings) == HEADINGS
    assert all(body.strip() for body in bodies)
    assert len(text.splitlines()) <= LINES_BOUND
