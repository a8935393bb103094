"""`lazytensor demo` runs the examples both ways, and leaves pictures of their results."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy
from matplotlib.image import imread

from lazytensor.cli.demo import EXAMPLES, examples_folder

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_demo(tmp_path: Path, lazytensor: Run) -> None:
    done = lazytensor("demo", "--quick", "--out", "pictures", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for example in EXAMPLES:
        assert f"{example.name} with NumPy:" in done.stdout  # the progress
        assert f"{example.name} with lazytensor:" in done.stdout
        picture = tmp_path / "pictures" / f"{Path(example.file).stem}.png"
        assert str(picture) in done.stdout
        colours = numpy.unique(imread(picture).reshape(-1, 4), axis=0)
        assert len(colours) > 50


def test_examples_are_plain_programs() -> None:
    for example in EXAMPLES:
        text = (examples_folder() / example.file).read_text()
        assert "import numpy as np\n" in text
        assert "lazytensor" not in text
