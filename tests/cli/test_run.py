"""A project under `lazytensor run`: lazy NumPy for the user's own modules, NumPy for the others."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

SAYS = "import numpy as np\n\ndef which(): return np.__name__\n"
PROJECT = {
    "app/script.py": """
        import json
        import numpy as np
        import beside, elsewhere, installed
        from package.inner import deep

        said = {"script": np.__name__, "beside": beside.which(), "elsewhere": elsewhere.which()}
        said |= {"deep": deep.which(), "in a function": deep.late(), "installed": installed.which()}
        print(json.dumps(said))
        """,
    "app/beside.py": SAYS,
    "app/package/__init__.py": "from . import inner\n",
    "app/package/inner/__init__.py": "",
    "app/package/inner/deep.py": SAYS
    + "def late():\n    from numpy import linalg\n    import numpy\n    return numpy.__name__\n",
    "elsewhere/elsewhere.py": SAYS,
    "site-packages/installed/__init__.py": SAYS,
}
LAZY, NUMPY = "lazytensor.numpy", "numpy"


def test_who_gets_lazy_numpy(project: Write, lazytensor: Run) -> None:
    folder = project(PROJECT)
    paths = [Path(__file__).parents[2], folder / "elsewhere", folder / "site-packages"]
    found = os.pathsep.join(map(str, paths))
    done = lazytensor("run", "app/script.py", cwd=folder, PYTHONPATH=found)
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "script": LAZY,
        "beside": LAZY,
        "elsewhere": LAZY,
        "deep": LAZY,
        "in a function": LAZY,
        "installed": NUMPY,
    }


def test_a_module_run_by_name_gets_it_too(project: Write, lazytensor: Run) -> None:
    files = {"tool/__init__.py": SAYS, "tool/__main__.py": "import tool; print(tool.which())"}
    assert lazytensor("run", "-m", "tool", cwd=project(files)).stdout == f"{LAZY}\n"


def test_plain_is_plain(project: Write, lazytensor: Run) -> None:
    text = "import sys, numpy; print(numpy.__name__, 'lazytensor.numpy' in sys.modules)"
    folder = project({"s.py": text})
    assert lazytensor("run", "--plain", "s.py", cwd=folder).stdout == "numpy False\n"


def test_spawned_processes_run_plain(project: Write, lazytensor: Run) -> None:
    text = """
        import multiprocessing
        import numpy as np
        def which(_): return np.__name__
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(np.__name__, pool.map(which, [0]))
        """
    done = lazytensor("run", "s.py", cwd=project({"s.py": text}))
    assert (done.stdout, done.stderr) == (f"{LAZY} ['{NUMPY}']\n", "")


def test_an_error_in_numpy_ends_below_the_users_line(project: Write, lazytensor: Run) -> None:
    text = "import numpy as np\n\nx = np.ones(3)\ny = x + np.ones(4)\nprint(y)\n"
    done = lazytensor("run", "s.py", cwd=project({"s.py": text}))
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('s.py", line 4, in <module>')
    assert lines[-1].startswith("ValueError: operands could not be broadcast together")


def test_the_record_of_a_run(project: Write, lazytensor: Run) -> None:
    text = "import numpy as np\nprint(float(np.arange(4.0).sum()))\n1 / 0\n"
    folder = project({"s.py": text})
    done = lazytensor("run", "--json", "record.json", "s.py", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "6.0\n")
    record = json.loads((folder / "record.json").read_text())
    assert record["metrics"]["cuts"] == 1
    assert len(record["runs"]) == 1


def test_every_way_to_import_gives_lazy_numpy(project: Write, lazytensor: Run) -> None:
    text = """
        import importlib
        import numpy
        import numpy as np
        import numpy.linalg as la
        from numpy import *
        from numpy import array as make, ma, newaxis, testing
        from numpy.linalg import LinAlgError, norm

        for module in (numpy, np, importlib.import_module("numpy"), ma, testing):
            print(module.__name__)
        for value in (np.ones(2), zeros(2), make([1.0]), la.norm(np.ones((2, 2)), axis=0)):
            print(type(value).__module__.partition(".")[0], isinstance(value, np.ndarray))
        print(norm(np.ones(4)), newaxis, LinAlgError is la.LinAlgError)
        """
    done = lazytensor("run", "s.py", cwd=project({"s.py": text}))
    modules = [LAZY, LAZY, LAZY, "numpy.ma", "lazytensor.frontends.numpy.modules.testing"]
    values = ["lazytensor True"] * 4
    assert done.stdout.splitlines() == [*modules, *values, "2.0 None True"]
