"""`lazytensor reuse`: what is counted, of the package itself and of a frontend by somebody else."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from lazytensor.reuse import components, source
from lazytensor.reuse.components import component

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

TEXTS = {
    "nothing": ("", set()),
    "comments and blank lines": ("# a\n\n  # b\nx = 1  # c\n", {4}),
    "a docstring": ('"""a\n\nb"""\nx = 1\n', {4}),
    "a docstring on its function's line": ('def f(): "a"\n', {1}),
    "a documented constant": ('x = 1\n"""what it is"""\n', {1}),
    "a string over lines": ('x = """a\n\nb"""\n', {1, 2, 3}),
    "a call over lines": ("f(\n    1,\n\n    # no\n    2,\n)\n", {1, 2, 5, 6}),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_lines_of_code(text: str, expected: set[int]) -> None:
    assert source.code_lines(text) == expected


IMPORTS = {
    "from lazytensor.core import ops\nops.exp(ops.shape)": {"exp"},
    "from lazytensor.core import ops as o\no.exp": {"exp"},
    "import lazytensor.core.ops\nlazytensor.core.ops.exp": {"exp"},
    "import lazytensor.core.ops as o\no.exp": {"exp"},
    "from lazytensor.core.ops import exp": {"exp"},
    "from lazytensor.core.ops import neural\nneural.gelu": {"gelu"},
    "from lazytensor.core.ops.neural import gelu": {"gelu"},
    "from lazytensor.core import ops\nf = lambda n: getattr(ops, n)\nf('gelu')": {"gelu"},
    "import numpy as ops\nops.exp, 'gelu'": set(),
}


@pytest.mark.parametrize(("text", "expected"), IMPORTS.items(), ids=IMPORTS)
def test_ops_that_a_source_names(text: str, expected: set[str], tmp_path: Path) -> None:
    path = tmp_path / "frontend.py"
    path.write_text(text)
    assert source.ops_used([path], ["exp", "gelu", "neural"]) - {"neural"} == expected


def test_every_file_of_the_package_belongs_to_one_component() -> None:
    inside = components.paths(
        *(f for folders in components.SHARED.values() for f in folders),
        *(f for folders in components.FRONTENDS.values() for f in folders),
        *components.TOOLS,
    )
    assert len(inside) == len(set(inside))
    rest = {path.name for path in components.paths(".")} - {path.name for path in inside}
    assert rest == {"__main__.py"}
    counted = {component(str(path)) for path in inside}
    assert counted == {*components.SHARED, *components.FRONTENDS, "tools"}


def test_the_report_counts_a_frontend_by_somebody_else(project: Write, lazytensor: Run) -> None:
    # The report takes a while, so this one is printed in a narrow encoding, too.
    text = '''
        """A frontend of one function."""
        from lazytensor.core import ops

        def soft(x):
            """Half of it."""
            return ops.softmax(ops.add(x, x), axis=0)  # along the first
    '''
    folder = project({"mine/__init__.py": "", "mine/table.py": dedent(text)})
    words = ("reuse", "--static", "--frontend", "mine", "--json", "said.json")
    done = lazytensor(*words, cwd=folder, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr  # TensorFlow says things there
    assert "Lines of code" in done.stdout
    said = json.loads((folder / "said.json").read_text())
    mine = said["static"]["frontends"]["mine"]
    shared = sum(said["static"]["shared_lines"].values())
    assert (mine["lines"], mine["ops"], mine["compositions"]) == (
        3,
        ["add", "softmax"],
        ["softmax"],
    )
    assert mine["share"] == shared / (shared + 3)
    assert "mine" in done.stdout
    (folder / "mine" / "broken.py").write_text("def")
    done = lazytensor("reuse", "--static", "--frontend", "mine", cwd=folder)
    assert done.returncode == 1
    assert "broken.py" in done.stderr
