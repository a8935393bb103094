"""What the documentation says of the project as a whole."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))


def test_every_page_is_reached_from_the_first() -> None:
    """And so is the list of decisions, which links the pages of its folder."""
    pages = {*PAGES, "decisions/index.md"}
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", (DOCS / "index.md").read_text()))
    assert linked == pages - {"index.md"}
    shown = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(shown) == sorted(pages)


def test_every_number_of_the_readme_is_in_the_log() -> None:
    """With its machine, date and command."""
    readme, log = (ROOT / "README.md").read_text(), (DOCS / "performance-log.md").read_text()
    table = readme.split("## Numbers")[1].split("\n## ")[0]
    found = re.findall(r"\d[\d.,]* ?(?:µs|ms|s\b|×)", table)
    assert len(found) > 10
    assert [number for number in found if number not in log] == []


def test_files_are_as_long_as_the_house_rules_say() -> None:
    assert "Most files under 300 lines, none above 500" in (ROOT / "CONTRIBUTING.md").read_text()
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not listed:
        pytest.skip("not a checkout")
    lengths = [len((ROOT / name).read_text().splitlines()) for name in listed]
    assert max(lengths) <= 500
    assert sum(length >= 300 for length in lengths) < len(lengths) / 5
