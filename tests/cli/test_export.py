"""`lazytensor export` writes a function, a model or an artifact for another runtime."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lazytensor import load

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

SCRIPT = """
    import numpy as np
    from beside import FACTOR

    weights = np.arange(6.0).reshape(3, 2)

    def product(x):
        return np.tanh(x) @ weights * FACTOR

    product_example = np.ones((4, 3))

    def distinct(x):
        return np.unique(x)

    def pair():
        return np.ones(2), np.ones(2)

    def added(x, y):
        return x + y

    if __name__ == "__main__":
        raise SystemExit("it is not run as a program")
    """
FILES = {"script.py": SCRIPT, "beside.py": "FACTOR = 2.0"}


def test_a_function_of_a_script_becomes_an_artifact(project: Write, lazytensor: Run) -> None:
    folder = project(FILES)
    done = lazytensor("export", "script.py:product", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "<Artifact product: (x: float64[4, 3]) -> (output: float64[4, 2])"
    )
    assert "written to product.zip" in done.stdout
    made = load(folder / "product.zip")(np.ones((4, 3)))
    np.testing.assert_allclose(made, np.tanh(1.0) * np.tile([12.0, 18.0], (4, 1)))


def test_types_may_be_described_and_left_open(project: Write, lazytensor: Run) -> None:
    folder = project(FILES)
    done = lazytensor(
        "export", "script.py:product", "--input", "float64[rows, 3]", "--to", "onnx",
        "-o", "made.onnx", "--name", "mine", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "<Artifact mine: (x: float64[rows, 3])" in done.stdout
    assert (folder / "made.onnx").stat().st_size > 100


def test_an_artifact_is_converted_later(project: Write, lazytensor: Run) -> None:
    folder = project(FILES)
    assert not lazytensor("export", "script.py:product", "--beside", cwd=folder).returncode
    assert (folder / "product.safetensors").exists()
    done = lazytensor("export", "product.zip", "--to", "jax", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "product.jax").exists()


def test_examples_are_found_by_name(project: Write, lazytensor: Run) -> None:
    folder = project(FILES)
    done = lazytensor("export", "script.py:added", "--example", "pair", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "(x: float64[2], y: float64[2])" in done.stdout


DESCRIBED = ("script.py:added", "--input", "float32[2]", "--input", "float32[2]")
ERRORS = {
    ("script.py:nothing",): "script.py has no 'nothing'; it has",
    ("nowhere.py:f",): "there is no file nowhere.py",
    ("script.py",): "SCRIPT.py:NAME, MODULE:NAME or an artifact was expected",
    ("script.py:added",): "has no added_example or example",
    ("script.py:added", "--input", "[3]"): "--input: float32[8,64] was expected",
    ("script.py:added", "--input", "word[3]"): "--input: 'word[3]'",
    ("script.py:distinct", "--input", "float64[3]"): "asks at script.py:13 for a value",
    ("none.zip",): "No such file",
    (*DESCRIBED, "--to", "iree", "--backend", "gpu"): "backend must be one of",
    (*DESCRIBED, "--to", "onnx", "--backend", "vmvx"): "onnx takes no option backend",
    (*DESCRIBED, "-o", "none/where.zip"): "No such file",
}


def test_errors_say_what_was_expected(project: Write, lazytensor: Run) -> None:
    folder = project(FILES)
    before = sorted(folder.iterdir())
    for words, text in ERRORS.items():
        done = lazytensor("export", *words, cwd=folder)
        assert done.returncode in (1, 2), words
        assert text in " ".join(done.stderr.split()), done.stderr
        assert "Traceback" not in done.stderr
    kept = {"compiled", "__pycache__"}
    assert [path for path in sorted(folder.iterdir()) if path.name not in kept] == before
