"""`lazytensor doctor` says what a script does line by line, and how lazytensor is set up."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lazytensor.cli import setup
from lazytensor.cli.setup import within
from lazytensor.core.settings import settings
from lazytensor.inspection import advice

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

READS = """
    import numpy as np
    from installed import total

    x = np.linspace(0.0, 1.0, 300)
    y = np.sin(x)
    for i in range(12):
        y = np.cos(y) + 0.5
        if (y > 100.0).any():  # test
            break
        print(f"{y.sum():.3f}")  # print
        last = float(y.max() * 2)  # conversion
        y[y > 0.7].copy()  # mask
        np.unique(y * 2)  # host
        total(y - 1)  # foreign
        (y - 3).argsort()[0].__index__()  # again
        with np.errstate(all="raise"):
            y = y / 2  # errstate
    for row in np.outer(y, y)[:10]:
        float((row * 2).sum())  # element
    for i in range(9):
        np.searchsorted(y * 1j, 1j)  # fallback
    for i in range(120):
        y = y * 0.5
        y.__array__()  # again small
    y.tolist()
    (y + 1).tolist()  # work
    """
COMPILED = """
    import numpy as np
    from lazytensor import Mesh, shard

    x = np.linspace(0.0, 1.0, 40)
    np.sin(x).tolist()  # first
    square = np.tan(np.outer(x, x))
    row = square[0] + 1
    square.tolist()
    for n in (10, 20):
        np.cos(np.ones(n)).tolist()  # shape
    for dtype in (np.float32, np.float64):
        np.cos(np.ones(7, dtype)).tolist()  # dtype
    for n in (2, 3):
        y = x
        for _ in range(n):
            y = np.log1p(y)
        y.tolist()  # loop
    for parts in ([x], [x, row]):
        y = x
        for part in parts:
            y = np.log2(y + part)
        y.tolist()  # input
    longer = np.zeros(3)
    for n in range(3):
        longer = np.concatenate([longer, x])
        longer.tolist()  # growth
    for axis in (0, 1):
        square.sum(axis=axis).tolist()  # attribute
    for more in (False, True):
        y = np.exp(x) * x
        z = np.arctan(y) if more else y
        z.tolist()  # structure
    for keep in (False, True):
        y = np.cosh(x)
        z = np.arctan(y)
        y = y if keep else None
        z.tolist()  # live
    for number in (1.0, 2.0):
        (np.expm1(x) * number).tolist()  # scalar
    for axis in ("x", None):
        parts = shard(square, Mesh((2,), ("x",)), (axis,))
        np.arctan(parts).tolist()  # sharding
    first = x = np.arcsinh(np.linspace(0.0, 1.0, 5000))
    first.tolist()
    for i in range(5):
        x = np.arcsinh(x)
        x[:1].tolist()  # shared
        first = None
    """
INSTALLED = "def total(x):\n    return float(x.sum())\n"


def marks(text: str) -> dict[int, set[str]]:
    """By number, the names that follow a `#` in a line."""
    lines = enumerate(text.splitlines(), start=1)
    return {n: set(line.split("  # ")[1].split()) for n, line in lines if "  # " in line}


def examine(lazytensor: Run, folder: Path, **settings: str) -> dict[int, dict[str, Any]]:
    """What the doctor has to say of `s.py`, by line."""
    done = lazytensor("doctor", "--json", "seen.json", "s.py", cwd=folder, **settings)
    assert done.returncode == 0, done.stderr
    seen = json.loads((folder / "seen.json").read_text())
    assert 0 < sum(line["seconds"] for line in seen["lines"]) < seen["seconds"]
    return {line["line"]: line for line in seen["lines"] if line["file"].endswith("s.py")}


SCRIPTS = {"auto": READS, "compile": COMPILED}


@pytest.mark.parametrize("tier", SCRIPTS)
def test_each_line_gets_its_advice(tier: str, project: Write, lazytensor: Run) -> None:
    files = {"s.py": SCRIPTS[tier], "site-packages/installed/__init__.py": INSTALLED}
    folder = project(files)
    paths = os.pathsep.join(map(str, (Path(__file__).parents[2], folder / "site-packages")))
    seen = examine(lazytensor, folder, LAZYTENSOR_TIER=tier, PYTHONPATH=paths)
    for number, names in marks((folder / "s.py").read_text()).items():
        assert names <= set(seen[number]["advice"]), (number, seen[number])


def test_every_advice_is_given_in_a_test() -> None:
    given = set().union(*[names for text in SCRIPTS.values() for names in marks(text).values()])
    assert given == {row.name for group in (*advice.GROUPS, [advice.WORK]) for row in group}


def test_the_report_names_lines_and_reasons(project: Write, lazytensor: Run) -> None:
    text = "import numpy as np\nx = np.array([1.0])\nfor i in 3, 5:\n    print(np.sin(x[0]) * i)\n"
    done = lazytensor("doctor", "s.py", cwd=project({"s.py": text}), LAZYTENSOR_TIER="compile")
    printed, report = done.stdout.split("lazytensor doctor ")
    assert len(printed.splitlines()) == 2
    assert re.search(r"\d m?s  s\.py:4  2 cuts, 2 compiles +\n +print\(np\.sin", report)
    assert "→ Nothing to do: numbers that vary" in report
    assert re.search(r"Cuts because a value was asked for\n  2 × s\.py:4: printed: `print`", report)
    assert re.search(r"Compiles, and why\n  2 × s\.py:4: the first program of its kind", report)


def test_a_script_ends_as_it_would_and_the_report_follows(
    ending: tuple[str, int], project: Write, lazytensor: Run
) -> None:
    last, status = ending
    text = f"import numpy as np\nprint(np.ones(3).sum() + 1)\ndef f():\n    {last}\nf()\n"
    folder = project({"s.py": text})
    run, done = (lazytensor(word, "s.py", cwd=folder) for word in ("run", "doctor"))
    assert (done.returncode, done.stderr) == (status, run.stderr)
    assert done.stdout.startswith("4.0\nlazytensor doctor")
    assert "s.py:2  1 cut " in done.stdout


def test_a_script_that_is_not_there(tmp_path: Path, lazytensor: Run) -> None:
    done = lazytensor("doctor", "s.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "can't open file" in done.stderr


def test_a_script_without_arrays(project: Write, lazytensor: Run) -> None:
    done = lazytensor(
        "doctor", "s.py", "--json", cwd=project({"s.py": "import sys; print(sys.argv)"})
    )
    assert done.stdout.startswith("['s.py', '--json']\n")
    assert done.stdout.endswith("nothing was computed lazily.\n")


def test_the_set_up(tmp_path: Path, lazytensor: Run) -> None:
    given = {"LAZYTENSOR_PROBE": "set by the test", "LAZYTENSOR_TIER": "compile"}
    done = lazytensor("doctor", "--json", "said.json", cwd=tmp_path, **given)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads((tmp_path / "said.json").read_text())
    assert done.stdout.splitlines() == [f"{name:15} {value}" for name, value in said.items()]
    assert {"python", "platform", "numpy", "jax", "jaxlib", "torch", "tensorflow"} <= said.keys()
    assert said["LAZYTENSOR_PROBE"] == "set by the test (NOT A SETTING)"
    assert said["tier"] == "compile (from LAZYTENSOR_TIER)"
    assert said["disk_bytes"].endswith("(default; LAZYTENSOR_CACHE_BYTES sets it)")
    assert str(tmp_path / "compiled") in said["cache"]
    assert said["devices"].startswith("cpu: ")
    assert said["private names"] == "all there"


def test_every_setting_has_its_variable() -> None:
    assert set(setup.NAMES) == {field.name for field in fields(settings)}


@pytest.mark.parametrize(
    ("found", "bounds", "kept"),
    [
        ("2.4.6", "<2.6,>=2.0", True),
        ("2.10.1", "<2.6,>=2.0", False),
        ("2.6", "<2.6,>=2.0", False),
        ("2.0", ">=2.0", True),
        ("2", ">=2.0.0", True),
        ("1.26.4", "<2.6,>=2.0", False),
        ("2.13.0+cpu", "<2.14,>=2.10", True),
        ("3.0rc1", "<3", False),
    ],
)
def test_versions_within_bounds(found: str, bounds: str, kept: bool) -> None:
    assert within(found, bounds) is kept


def test_every_variable_is_in_the_readme() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    missing = [name for name in (*setup.NAMES.values(), *setup.OTHERS) if f"`{name}`" not in readme]
    assert missing == []
