"""`lazytensor tune` compiles all that a script needs, and says what it gained."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

WAVES = """
    import sys
    import numpy as np

    x = np.linspace(0.0, 1.0, 300_000)
    for _ in range(int(sys.argv[1])):
        x = np.sin(x) * 2.0 + np.sqrt(x)
        print("sum", round(float(x.sum()), 3))
    """
ITSELF = """
    import numpy
    import lazytensor.numpy as np

    assert numpy.ndarray is type(numpy.ones(3))
    print(float((np.linspace(0.0, 1.0, 50_000) * 2.0 + 1.0).sum()))
    """


def rows(text: str) -> dict[str, list[str]]:
    lines = (re.split(r"\s{2,}", line.strip()) for line in text.splitlines())
    return {name: rest for name, *rest in lines if rest}


def test_what_is_compiled_once_is_loaded_after(project: Write, lazytensor: Run) -> None:
    folder = project({"waves.py": WAVES})
    done = lazytensor("tune", "waves.py", "60", cwd=folder)
    assert done.returncode == 0, done.stderr
    said = rows(done.stdout)
    assert int(said["tuning"][1]) + int(said["tuning"][2]) >= 1
    assert said["after"][1] == "0"
    assert int(said["after"][2]) >= 1
    assert "sum" not in done.stdout
    assert re.search(r"(gained|lost); programs kept in .+: \d+", done.stdout)


def test_a_script_that_imports_lazytensor_itself(project: Write, lazytensor: Run) -> None:
    folder = project({"itself.py": ITSELF})
    done = lazytensor("tune", "--plain", "itself.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert int(rows(done.stdout)["tuning"][1]) >= 1


def test_a_script_that_fails_ends_it(project: Write, lazytensor: Run) -> None:
    folder = project({"fails.py": "import sys; print('why', file=sys.stderr); sys.exit(3)"})
    done = lazytensor("tune", "fails.py", cwd=folder)
    assert done.returncode == 3
    assert "why" in done.stderr
    assert "the script failed (before)" in done.stderr


def test_standard_input_cannot_be_run_three_times(lazytensor: Run, tmp_path: Path) -> None:
    done = lazytensor("tune", "-", cwd=tmp_path)
    assert done.returncode == 2
    assert "three times" in done.stderr
