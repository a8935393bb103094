"""`%load_ext lazytensor` in a real IPython: `%%lazy`, and rich display."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import lazytensor.numpy as lnp
from lazytensor.core.runtime import background


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.ProfileDir.location = str(tmp_path_factory.mktemp("profile"))
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "lazytensor")
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(session: InteractiveShell) -> InteractiveShell:
    session.reset(new_session=False)
    background.drain()  # else what another test has wanted is said of a cell of this one
    return session


def run(shell: InteractiveShell, cell: str) -> Any:
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def html(shell: InteractiveShell, value: Any) -> str:
    data, _ = shell.display_formatter.format(value)
    return str(data["text/html"])


def test_a_lazy_cell_has_lazy_numpy(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "import numpy as np\nfrom numpy import linalg\nbefore = np.ones(3)")
    run(shell, "%%lazy\nx = np.ones(3) + before\ny = linalg.norm(x)\nprint(float(y) ** 2)")
    space = shell.user_ns
    assert type(space["x"]) is type(space["y"].reshape(1)) is lnp.ndarray
    assert space["np"] is np
    assert space["linalg"] is np.linalg
    first, said = capsys.readouterr().out.splitlines()
    assert float(first) == pytest.approx(12.0)
    assert re.fullmatch(r"lazytensor: 1 cuts, 1 compiles", said)


def test_a_lazy_cell_imports_lazy_numpy(shell: InteractiveShell) -> None:
    run(shell, "%%lazy\nimport numpy as np\nx = np.zeros(2)")
    assert type(shell.user_ns["x"]) is lnp.ndarray
    run(shell, "import numpy\ny = numpy.zeros(2)")
    assert type(shell.user_ns["y"]) is np.ndarray


def test_a_lazy_cell_is_explained(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "import numpy as np")
    run(
        shell,
        "%%lazy --explain\nx = np.arange(4.0)\nfor i in (1, 2):\n    float((x[i:] * 2).sum())",
    )
    said = capsys.readouterr().out
    assert re.search(r"2 × .*:3: made a Python value: `float\(\)`", said)
    assert "of type f64[2] instead of f64[3]" in said


def test_a_failing_cell_is_reported_and_numpy_is_back(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "import numpy as np")
    shell.run_cell("%%lazy\nnp.ones(3) + np.ones(4)")
    assert "ValueError" in capsys.readouterr().out
    assert shell.user_ns["np"] is np


FAILURES = {
    "an error": ("def f():\n    1 / 0\nf()", ZeroDivisionError),
    "no Python": ("x = = 1", SyntaxError),
    "a wrong indent": ("  if 1:\n x", IndentationError),
    "an interrupt": ("raise KeyboardInterrupt", KeyboardInterrupt),
    "a magic's own": ("%%lazy --fast\n1", UsageError),
    "a cell in a cell": ("%%lazy\n1 / 0", ZeroDivisionError),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_cell_fails_as_it_does_without_the_magic(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    cell, error = FAILURES[name]
    plain = shell.run_cell(cell)
    wanted = capsys.readouterr()
    lazy = shell.run_cell("%%lazy\n" + cell)
    shown = capsys.readouterr()
    assert not lazy.success
    assert type(plain.error_before_exec or plain.error_in_exec) is error
    assert type(lazy.error_in_exec) is error
    assert shown.err == wanted.err
    assert shown.out == wanted.out + "lazytensor: nothing was computed\n"
    shell.run_cell("1 / 0")
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_an_error_that_the_user_handles_hides_no_other(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    call = "get_ipython().run_cell_magic('lazy', '', '1 / 0')"
    run(shell, f"try:\n    {call}\nexcept ZeroDivisionError:\n    pass")
    shell.run_cell("{}['missing']")
    assert "KeyError" in capsys.readouterr().out


def test_a_wrong_option_is_refused(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("%%lazy --fast\nx = 1")
    assert "--explain (-e) is all it takes" in capsys.readouterr().err
    assert "x" not in shell.user_ns


def test_arrays_are_tables(shell: InteractiveShell) -> None:
    x = lnp.arange(6.0).reshape(2, 3) + 0.5
    text = html(shell, x)
    assert "<b>ndarray</b> 2 × 3, float64</div>" in text
    assert text.count("<tr>") == 2
    assert "<td>5.5</td>" in text
    large = html(shell, lnp.zeros((100, 100)))
    assert (large.count("<tr>"), large.count("<td>")) == (13, 13 * 11)
    assert "<pre" in html(shell, lnp.zeros((2, 2, 2)))


def test_programs_and_metrics_are_html(shell: InteractiveShell) -> None:
    run(shell, "import lazytensor, numpy as np")
    run(shell, "%%lazy\nx = np.sin(np.ones(3)); x.tolist()")
    program = run(shell, "lazytensor.programs()[0]")
    assert html(shell, program).startswith("<iframe srcdoc=")
    for words in ("lazytensor.metrics", "lazytensor.metrics.snapshot()"):
        text = html(shell, run(shell, words))
        assert "<td>cuts</td>" in text
        assert "In XLA&#x27;s compiler." in text
    assert html(shell, run(shell, "lazytensor.explain()")).startswith("<pre")
    data, _ = shell.display_formatter.format(run(shell, "np"))
    assert "text/html" not in data


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_tensors_of_torch(shell: InteractiveShell) -> None:
    run(shell, "import torch, lazytensor.torch")
    text = html(shell, run(shell, "torch.ones(2, 2, dtype=torch.bfloat16).to('lazytensor') * 3"))
    assert "<b>Tensor</b> 2 × 2, torch.bfloat16" in text
    assert text.count("<td>3.0</td>") == 4
    data, _ = shell.display_formatter.format(run(shell, "torch.ones(2)"))
    assert "text/html" not in data


def test_the_cell_of_the_page_runs_in_a_fresh_session_and_is_named(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    assert "%load_ext lazytensor" in page
    cell = re.search(r"^    (%%lazy --explain\n(?: {4}.*\n)+)", page, re.MULTILINE)
    assert cell is not None
    run(shell, cell[1].replace("\n    ", "\n"))
    said = capsys.readouterr().out
    assert re.search(r"1 × \S*ipython-input\S*:4: .*\n +y\.mean\(\)", said), said
    assert "site-packages" not in said
