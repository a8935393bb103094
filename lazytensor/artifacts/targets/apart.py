"""Converters in a process of their own: those of TensorFlow end the process at some programs.

`python -m lazytensor.artifacts.targets.apart KIND ARTIFACT PATH …` converts artifacts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import lazytensor
from lazytensor.core.errors import Unsupported

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

PATH: Final = "PYTHONPATH"
REFUSED: Final = 3
"""The status of a process that says why a program cannot be converted."""
MISSING: Final = 4
"""The status of one that says which module is missing."""


def convert(jobs: Sequence[tuple[Artifact, str, Path]]) -> None:
    """Write artifacts, each as a kind, "savedmodel" or "tflite", to a path.

    Raises: Unsupported with what the converter says of one, or that it ended the process;
    ImportError.
    """
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", __name__]
        for number, (artifact, kind, path) in enumerate(jobs):
            source = artifact.save(Path(folder) / f"{number}.zip")
            command += [kind, str(source), str(path)]
        paths = [str(Path(lazytensor.__file__).parents[1]), *filter(None, [os.environ.get(PATH)])]
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        environment = os.environ | quiet | {PATH: os.pathsep.join(paths)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout.strip()
    if done.returncode == MISSING:
        raise ModuleNotFoundError(f"No module named {said!r}", name=said)
    if done.returncode == REFUSED:
        raise Unsupported(said)
    if done.returncode:
        why = done.stderr.strip().splitlines()[-1:] or [""]
        text = f"TensorFlow's converter ended with the status {done.returncode}: {why[0]:.300}"
        raise Unsupported(text)


def _main(words: Sequence[str]) -> int:
    from lazytensor.artifacts import load

    try:
        from lazytensor.artifacts.targets import savedmodel

        for kind, source, path in zip(*[iter(words)] * 3, strict=True):
            if kind == "tflite":
                Path(path).write_bytes(savedmodel.tflite(load(source)))
            else:
                savedmodel.write(load(source), Path(path))
    except ModuleNotFoundError as error:
        print(error.name)
        return MISSING
    except Unsupported as error:
        print(error)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
