"""A script under `lazytensor run` is a script under `python`: output, errors and exit status."""

import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPTS = {
    "surroundings": """
        import sys
        print(__name__, __file__, __package__, __spec__, __doc__, sorted(globals()))
        print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
        print(type(__loader__).__name__, __builtins__.len([1]))
        """,
    "guarded main": """
        def main():
            print("main ran")
        if __name__ == "__main__":
            main()
        """,
    "exit with a number": "import sys; sys.exit(3)",
    "exit with a text": "import sys; sys.exit('no good')",
    "exit with nothing": "raise SystemExit",
    "error in a function": """
        def divide(a, b):
            return a / b

        print("before")
        divide(1, 0)
        """,
    "error with a cause": """
        try:
            {}["key"]
        except KeyError as error:
            raise ValueError("bad key") from error
        """,
    "error in a group": """
        def fail(): raise TypeError("one")
        try:
            fail()
        except TypeError as error:
            raise ExceptionGroup("several", [error, ValueError("two")])
        """,
    "no such module": "import os\n\nimport nothing_like_it\n",
    "no such name": "from os import nothing_like_it\n",
    "no such module, deep": "import mine\nmine.fetch()\n",
    "no such module, shown by the script": """
        import traceback
        try:
            import nothing_like_it
        except ImportError:
            print(traceback.format_exc())
        """,
    "error in a module": "import broken\n",
    "syntax error": "x = 1\ny = = 2\n",
    "syntax error in a module": "import wrong_syntax\n",
    "warning while importing": "import old\n",
    "deprecation in main": "import warnings\nwarnings.warn('old', DeprecationWarning)\n",
    "own excepthook": """
        import sys
        sys.excepthook = lambda kind, error, trace: print("hook", kind, trace.tb_lineno)
        1 / 0
        """,
    "last exception": """
        import atexit, sys
        atexit.register(lambda: print("last", sys.last_value))
        1 / 0
        """,
    "thread that outlives main": """
        import threading, time
        def work():
            time.sleep(0.05)
            import mine
            print("done", mine.__name__)
        threading.Thread(target=work).start()
        """,
    "error in a thread": """
        import threading
        def work(): 1 / 0
        worker = threading.Thread(target=work, name="worker")
        worker.start(), worker.join()
        """,
    "interrupted": """
        import os, signal
        print("before", flush=True)
        os.kill(os.getpid(), signal.SIGINT)
        """,
    "broken pipe": "raise BrokenPipeError(32, 'Broken pipe')",
    "end of input": "input()",
    "pickle of a class of main": """
        import pickle, sys
        class Point:
            def __init__(self, x): self.x = x
        print(pickle.dumps(Point(3)), pickle.loads(pickle.dumps(Point(3))).x)
        """,
    "spawned process": """
        import multiprocessing
        class Point:
            def __init__(self, x): self.x = x
        def doubled(point): return Point(2 * point.x)
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(doubled, [Point(3)])[0].x)
        """,
    "source of itself": """
        import inspect
        def visible(): return "source"
        print(inspect.getsource(visible))
        """,
    "script that uses click": """
        import click
        @click.command()
        @click.option("--count", type=int)
        @click.argument("rest", nargs=-1)
        def command(count, rest):
            click.echo((count, rest, click.get_current_context().command_path))
            raise click.ClickException("enough")
        command()
        """,
}

BESIDE = {
    "mine.py": "def fetch():\n    import nothing_like_it\n",
    "broken.py": "def fail():\n    raise RuntimeError('broken')\n\nfail()\n",
    "wrong_syntax.py": "def f(:\n",
    "old.py": "import warnings\nwarnings.warn('old', FutureWarning, stacklevel=2)\n",
}

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]
Write = Callable[[dict[str, str]], Path]


def seen(done: Done) -> tuple[int, str, str]:
    """What a run shows, without what differs between any two runs."""
    stderr = re.sub(r"\(Thread-\d+\)|Thread-\d+", "Thread", done.stderr)
    return done.returncode, done.stdout, stderr


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_as_under_python(name: str, project: Write, python: Run, lazytensor: Run) -> None:
    folder = project({"app/script.py": SCRIPTS[name]} | {f"app/{k}": v for k, v in BESIDE.items()})
    words = ("app/script.py", "--count", "3", "x")
    plain = python(*words, cwd=folder)
    assert seen(lazytensor("run", *words, cwd=folder)) == seen(plain)


@pytest.mark.parametrize("name", ["nothing.py", "empty", "app/__main__.py/x.py"])
def test_nothing_to_run(name: str, project: Write, python: Run, lazytensor: Run) -> None:
    folder = project({"empty/readme": "", "app/__main__.py": ""})
    plain = python(name, cwd=folder)
    assert plain.returncode
    assert seen(lazytensor("run", name, cwd=folder)) == seen(plain)


INPUTS = {
    "what it finds": "import sys; print(sorted(globals()), __name__, sys.argv, sys.path[0])",
    "an error": "def f():\n    1 / 0\nf()",
    "no Python": "x = = 1",
    "an exit": "raise SystemExit(3)",
    "nothing": "",
}


@pytest.mark.parametrize("name", INPUTS)
def test_standard_input_as_under_python(
    name: str, tmp_path: Path, python: Run, lazytensor: Run
) -> None:
    plain = python("-", "x", cwd=tmp_path, stdin=INPUTS[name])
    done = lazytensor("run", "-", "x", cwd=tmp_path, stdin=INPUTS[name])
    assert seen(done) == seen(plain)


def test_standard_input_is_explained(tmp_path: Path, lazytensor: Run) -> None:
    for head in ("import numpy as np", "import lazytensor.numpy as np"):
        text = f"{head}\nprint(np.ones(3).sum() + 1)\n"
        done = lazytensor("explain", "-", cwd=tmp_path, stdin=text)
        assert done.stdout.startswith("4.0\nlazytensor explain: 1 program run"), done.stderr
        assert "× <stdin>:2: printed: `print`\n           print(np.ones" in done.stdout
    done = lazytensor("run", "--compare", "-", cwd=tmp_path, stdin=text)
    assert done.returncode == 2
    assert "give a file instead of `-`" in done.stderr


def test_coding_line_is_kept(tmp_path: Path, python: Run, lazytensor: Run) -> None:
    (tmp_path / "s.py").write_bytes("# coding: latin-1\nprint(ascii('é'))\n".encode("latin-1"))
    done = lazytensor("run", "s.py", cwd=tmp_path)
    assert seen(done) == seen(python("s.py", cwd=tmp_path))
    assert done.stdout == "'\\xe9'\n"


def test_linked_script_finds_its_neighbours(project: Write, python: Run, lazytensor: Run) -> None:
    files = {"app/script.py": "import sys, near; print(sys.path[0], __file__)", "app/near.py": ""}
    folder = project(files)
    (folder / "link.py").symlink_to("app/script.py")
    assert seen(lazytensor("run", "link.py", cwd=folder)) == seen(python("link.py", cwd=folder))


def test_folder_and_zip_with_a_main(project: Write, python: Run, lazytensor: Run) -> None:
    text = "import sys\nprint(sys.argv, sys.path[0], __name__, __file__, __package__)\n1 / 0\n"
    folder = project({"app/__main__.py": text})
    with zipfile.ZipFile(folder / "app.zip", "w") as archive:
        archive.write(folder / "app" / "__main__.py", "__main__.py")
    for name in ("app", "app.zip"):
        plain = python(name, "a", cwd=folder)
        lazy = lazytensor("run", name, "a", cwd=folder)
        assert seen(lazy) == (1, plain.stdout, without_runpy(plain.stderr))


MODULES = {
    "package/__init__.py": "print('package', __name__)\n",
    "package/__main__.py": "import sys\nfrom . import part\nprint(sys.argv, sys.path[0])\n",
    "package/part.py": "print(__name__, __package__, __spec__.name, sorted(globals()))\n",
    "package/bad.py": "def f():\n    1 / 0\nf()\n",
    "library/__init__.py": "",
    "broken/__init__.py": "import nothing_like_it\n",
    "broken/part.py": "",
}


@pytest.mark.parametrize(
    "name",
    [
        "package",
        "package.part",
        "package.bad",
        "package.nothing",
        "nothing",
        "nothing.at.all",
        "library",
    ],
)
def test_module_as_under_python(name: str, project: Write, python: Run, lazytensor: Run) -> None:
    folder = project(MODULES)
    plain = python("-m", name, "a", "--b", cwd=folder)
    status, stdout, stderr = seen(lazytensor("run", "-m", name, "a", "--b", cwd=folder))
    assert (status, stdout) == (plain.returncode, plain.stdout)
    assert stderr == without_runpy(plain.stderr)


def test_a_module_that_cannot_be_imported_ends_in_the_users_line(
    project: Write, lazytensor: Run
) -> None:
    done = lazytensor("run", "-m", "broken.part", cwd=project(MODULES))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert "broken/__init__.py" in lines[1]
    assert lines[-1] == "ModuleNotFoundError: No module named 'nothing_like_it'"
    assert "lazytensor" not in done.stderr


def without_runpy(text: str) -> str:
    return re.sub(r'  File "<frozen runpy>", line \d+, in \w+\n', "", text)


def test_no_option_after_the_script_is_ours(project: Write, lazytensor: Run) -> None:
    folder = project({"s.py": "import sys; print(sys.argv[1:])"})
    words = ["--help", "--compare", "-m", "--", "x"]
    assert lazytensor("run", "s.py", *words, cwd=folder).stdout == f"{words}\n"


def test_repeated_runs_each_get_a_new_main(project: Write, lazytensor: Run) -> None:
    text = "import sys\nprint('again' in globals())\nagain = 1\nsys.exit(len(sys.argv) - 1)\n"
    folder = project({"s.py": text})
    done = lazytensor("run", "--repeat", "3", "s.py", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "False\n" * 3)
    done = lazytensor("run", "--repeat", "3", "s.py", "stop", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "False\n")


def test_the_library_alone_brings_no_command_line(tmp_path: Path, python: Run) -> None:
    text = "import lazytensor, sys; print(sorted({'click', 'rich'} & sys.modules.keys()))"
    assert python("-c", text, cwd=tmp_path).stdout == "[]\n"
