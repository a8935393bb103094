"""`lazytensor run --compare` runs a script both ways, and says what it found."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

WAVES = """
    import sys
    import numpy as np

    x = np.linspace(0.0, 1.0, 5000)
    for _ in range(int(sys.argv[1])):
        x = np.sin(x) * 2.0 + 1.0
        print("sum", round(float(x.sum()), 3))
    """


def said(folder: Path) -> dict[str, dict[str, object]]:
    answer = json.loads((folder / "said.json").read_text())
    assert isinstance(answer, dict)
    return answer


def test_table_and_record(project: Write, lazytensor: Run) -> None:
    folder = project({"waves.py": WAVES})
    words = ("run", "--compare", "--repeat", "2", "--json", "said.json", "waves.py", "4")
    done = lazytensor(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    for row in ("waves.py 4", "first run, with imports", "best of 2 runs", "fallbacks", "equal"):
        assert row in done.stdout
    record = said(folder)
    assert record["output"]["equal"]
    assert record["numpy"]["metrics"] == {}
    metrics = record["lazytensor"]["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["cuts"] >= 8  # each of the 2 × 4 sums is observed
    for side in ("numpy", "lazytensor"):
        runs, wall = record[side]["runs"], record[side]["wall"]
        assert isinstance(runs, list)
        assert len(runs) == 2
        assert wall > sum(runs) > 0


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import sys; print('x'); sys.exit(3)", 3),
        ("1 / 0", 1),
        ("import os; os._exit(4)", 4),
        ("import os; os._exit(0)", 0),
        ("import os; os.kill(os.getpid(), 15)", 128 + 15),
    ],
)
def test_a_script_that_fails(text: str, status: int, project: Write, lazytensor: Run) -> None:
    done = lazytensor("run", "--compare", "bad.py", cwd=project({"bad.py": text}))
    assert done.returncode == status
    assert "exit status" in done.stdout
    assert done.stderr.count("ZeroDivisionError") == (2 if "/" in text else 0)


def test_output_that_differs_is_told_by_how_much(project: Write, lazytensor: Run) -> None:
    text = "import sys; print('value', 1.0 + 0.5 * ('lazytensor.numpy' in sys.modules))"
    done = lazytensor("run", "--compare", "s.py", cwd=project({"s.py": text}))
    assert "numbers differ by at most 0.5" in done.stdout


def test_numpy_has_the_allocator_as_it_comes(project: Write, lazytensor: Run) -> None:
    """What lazytensor tells malloc at its import makes NumPy faster, too."""
    text = "import os; print('value', 1.0 + 0.5 * ('LAZYTENSOR_MALLOC' in os.environ))"
    done = lazytensor("run", "--compare", "s.py", cwd=project({"s.py": text}))
    assert "numbers differ by at most 0.5" in done.stdout


def test_options_that_exclude_one_another(project: Write, lazytensor: Run) -> None:
    done = lazytensor("run", "--compare", "--plain", "s.py", cwd=project({"s.py": ""}))
    assert done.returncode == 2
    assert "leave out --plain" in done.stderr


def test_interrupt_ends_both_processes(project: Write) -> None:
    text = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    folder = project({"s.py": text})
    paths = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "lazytensor", "run", "--compare", "s.py"]
    # Where the tests run in a shell's background, an interrupt would be ignored by all of them.
    heeding = f"""
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv({sys.executable!r}, {command})
"""
    with subprocess.Popen(
        [sys.executable, "-c", heeding], cwd=folder, env=paths, stderr=subprocess.PIPE
    ) as process:
        wait_for(lambda: (folder / "pid").exists() and (folder / "pid").read_text() != "")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
    child = int((folder / "pid").read_text())
    wait_for(lambda: not Path(f"/proc/{child}").exists())


def wait_for(happened: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)
