"""Reports get through: to files, narrow encodings, closed pipes; a script ends as it would."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import call

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

SCRIPT = "import numpy as np\nprint(np.ones(3).sum() + 1)\n"
ENDS = SCRIPT + "import sys\nsys.exit(7)\n"
REPORTS = {"run": ("run",), "explain": ("explain",), "doctor": ("doctor",)}
FILES = {
    **{name: (*words, "--json", "FILE", "s.py") for name, words in REPORTS.items()},
    "compare": ("run", "--compare", "--json", "FILE", "s.py"),
    "set up": ("doctor", "--json", "FILE"),
    "reuse": ("reuse", "--static", "--json", "FILE"),
    "its page": ("reuse", "--static", "--html", "FILE"),
    "demo": ("demo", "--quick", "--out", "FILE"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_written_is_refused_at_the_start(
    name: str, project: Write, lazytensor: Run
) -> None:
    folder = project({"s.py": SCRIPT})
    for path in ("s.py/deeper/x", *(("nothing/x", ".") if name != "demo" else ("s.py",))):
        words = (path if word == "FILE" else word for word in FILES[name])
        done = lazytensor(*words, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert path in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", REPORTS)
def test_a_file_that_becomes_impossible_costs_neither_report_nor_status(
    name: str, project: Write, lazytensor: Run
) -> None:
    spoils = "import os\nos.rename('records', 'elsewhere')\n" + ENDS
    folder = project({"s.py": spoils, "records/readme": ""})
    done = lazytensor(name, "--json", "records/x", "s.py", cwd=folder)
    assert done.returncode == 7
    assert "records/x cannot be written: No such file" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("4.0\n")
    assert name == "run" or f"lazytensor {name}" in done.stdout


@pytest.mark.parametrize("name", REPORTS)
def test_a_file_is_where_it_was_when_the_script_started(
    name: str, project: Write, lazytensor: Run
) -> None:
    folder = project({"s.py": SCRIPT + "import os\nos.chdir('/')\n"})
    assert lazytensor(name, "--json", "x", "s.py", cwd=folder).returncode == 0
    assert json.loads((folder / "x").read_text())


ENCODED = {
    "explain": (("explain", "s.py"), "1 x s.py:2"),
    "doctor": (("doctor", "s.py"), "1 x s.py:2"),
    "compare": (("run", "--compare", "s.py"), "NumPy / lazytensor"),
    "set up": (("doctor",), "lazytensor"),
    "cache": (("cache", "info"), "folder"),
}


@pytest.mark.parametrize("name", ENCODED)
def test_a_narrow_encoding_costs_signs_only(name: str, project: Write, lazytensor: Run) -> None:
    words, wanted = ENCODED[name]
    folder = project({"s.py": SCRIPT})
    settings = {"PYTHONIOENCODING": "ascii", "LAZYTENSOR_CACHE_DIR": str(folder / "café")}
    done = lazytensor(*words, cwd=folder, **settings)
    assert done.returncode == 0, done.stderr
    assert wanted in done.stdout


def test_what_the_script_prints_is_encoded_as_under_python(
    project: Write, python: Run, lazytensor: Run
) -> None:
    folder = project({"s.py": "print('\u00d7')"})
    for words in (("run", "s.py"), ("explain", "s.py")):
        done = lazytensor(*words, cwd=folder, PYTHONIOENCODING="ascii")
        assert (done.returncode, "UnicodeEncodeError" in done.stderr) == (1, True)


READER = """
    import subprocess, sys
    report = [sys.executable, "-m", "lazytensor", *sys.argv[1:]]
    process = subprocess.Popen(report, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    print(process.stderr.read().decode(), process.wait())
    """


@pytest.mark.parametrize("words", [("explain",), ("doctor",), ("run", "--compare")])
def test_a_reader_that_has_gone_is_no_error(words: tuple[str, ...], project: Write) -> None:
    text = "import numpy as np\nnp.ones(3).sum().tolist()\nraise SystemExit(7)\n"
    folder = project({"s.py": text, "reader.py": READER})
    done = call(sys.executable, "reader.py", *words, "s.py", cwd=folder)
    assert done.stdout == " 7\n"


@pytest.mark.parametrize("name", ["explain", "doctor"])
def test_the_report_of_a_script_that_closes_its_output(
    name: str, project: Write, lazytensor: Run
) -> None:
    folder = project({"s.py": SCRIPT + "import sys\nsys.stdout.close()\nsys.exit(7)\n"})
    done = lazytensor(name, "s.py", cwd=folder)
    assert (done.returncode, done.stdout) == (7, "4.0\n")
    assert done.stderr.startswith(f"lazytensor {name}")
