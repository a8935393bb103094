"""An op is added in the five edits that CONTRIBUTING.md names."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EDITS = [
    (
        "lazytensor/core/ops/special.py",
        'zeta = binary("zeta"',
        'softsign = unary("softsign", FLOATS, "x / (1 + |x|).")',
    ),
    (
        "lazytensor/core/interpreter/kernels/special.py",
        "    ops.erf: ",
        "ops.softsign: lambda x: x / (1 + np.abs(x)),",
    ),
    (
        "lazytensor/backends/xla/elementwise/special.py",
        "        ops.erf: ",
        "ops.softsign: widened(lambda x: x / (ops.abs(x) + 1)),",
    ),
    (
        "tests/ops/samples/elementwise.py",
        "    (ops.erf, FLOATS",
        "(ops.softsign, FLOATS, -9, 9, 4),",
    ),
    (
        "lazytensor/frontends/tf/rows/elementwise.py",
        '"Softsign": _softsign,',
        '"Softsign": lambda x, **_: ops.softsign(x),',
    ),
]
"""Per edit: the file, the line before or instead of which it is made, what the page says."""
USED = """
import tensorflow as tf, lazytensor.tf
from lazytensor.core.observe import events
lazytensor.tf.enable()
found = tf.nn.softsign(tf.constant([-3.0, 0.0, 1.0]))
assert found.numpy().tolist() == [-0.75, 0.0, 0.5]
assert any("= softsign(" in str(event.program) for event in events.events)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which the edits are made."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("lazytensor", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for name, before, row in EDITS:
        path = copy / name
        source = path.read_text(encoding="utf-8")
        assert source.count(before) == 1
        indent = before[: len(before) - len(before.lstrip())]
        kept = "" if row.partition(":")[0] in before else f"\n{before}"  # a row is replaced
        path.write_text(source.replace(before, f"{indent}{row}{kept}"), encoding="utf-8")
        if name == EDITS[0][0]:
            run(copy, "-m", "benchmarks.op_names")
    return copy


def run(tree: Path, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tree), "LAZYTENSOR_DISK": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ended.returncode, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, _, row in EDITS])
def test_the_page_names_the_edit(name: str, row: str) -> None:
    step = next(part for part in re.split(r"\n\d\. ", PAGE) if f"`{name}`" in part)
    assert f"`{row}`" in step


def test_the_laws_hold(tree: Path) -> None:
    said = run(
        tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ops/test_laws.py",
        "-k", "softsign or every_op",
    )  # fmt: skip
    assert int(said.split(" passed")[0].split()[-1]) > 20


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_a_frontend_records_it(tree: Path) -> None:
    run(tree, "-c", USED)
