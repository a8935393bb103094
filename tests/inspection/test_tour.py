"""Functions that the documentation names exist."""

import json
import re
from pathlib import Path

import pytest

from tests.core.processes import run

DOCS = Path(__file__).parents[2] / "docs"
FRAMEWORKS = {"torch": "torch", "tf": "tensorflow"}
NAME = re.compile(r"`(lazytensor(?:\.\w+)+)(?:\(\))?`")
LOOK_UP = """
import importlib, json, sys

def found(name):
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError as error:
            if not error.name.startswith("lazytensor"):
                raise
            continue
        for part in parts[n:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False

print(json.dumps([name for name in {names!r} if not found(name)]))
"""


def missing(names: list[str]) -> list[str]:
    """Those of the names that cannot be imported, in a process of its own: frontends patch."""
    printed = run(LOOK_UP.replace("{names!r}", repr(names))).stdout
    return list(json.loads(printed.splitlines()[-1]))


def names_of(page: str, frontend: str) -> list[str]:
    """The names on a page that belong to a frontend, or to none of the two with a framework."""
    named = sorted(set(NAME.findall((DOCS / page).read_text())))
    owners = {name: (name.split(".") + [""] * 3)[2] for name in named}
    others = FRAMEWORKS.keys() - {frontend}
    mine = [name for name in named if owners[name] not in others]
    return [name for name in mine if not frontend or owners[name] == frontend]


@pytest.mark.parametrize("frontend", ["", *FRAMEWORKS])
@pytest.mark.parametrize("page", ["tour.md", "design.md"])
def test_what_a_page_names_exists(page: str, frontend: str) -> None:
    if frontend:
        pytest.importorskip(FRAMEWORKS[frontend])
    assert missing(names_of(page, frontend)) == []


def test_the_tour_names_functions_of_all_frontends() -> None:
    assert all(len(names_of("tour.md", frontend)) > 5 for frontend in ("", *FRAMEWORKS))


def test_a_name_that_is_gone_is_found() -> None:
    gone = ["lazytensor.core.ir.op.Op.gone", "lazytensor.core.gone.Op"]
    assert missing([*gone, "lazytensor.core.ir.op.Op.__call__"]) == gone
