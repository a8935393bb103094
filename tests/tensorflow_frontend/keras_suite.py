"""Keras's own tests, from its wheel, with TensorFlow and with a lazy TensorFlow.

`python -m tests.tensorflow_frontend.keras_suite ops/numpy_test.py losses` prints the counts of
both, and the tests that pass with the one only.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def folder() -> Path:
    """Where Keras's sources are."""
    import keras

    return Path(keras.__file__).parent / "src"


def outcomes(paths: list[str], lazily: bool) -> tuple[dict[str, str], str]:
    """Per test: passed, failed or skipped; and the end of what was printed."""
    environment = os.environ | {
        "KERAS_BACKEND": "tensorflow", "LAZYTENSOR_KERAS": str(int(lazily)),
        "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3",
    }  # fmt: skip
    command = [
        sys.executable, "-m", "pytest", "-p", "tests.tensorflow_frontend.keras_plugin", "-v",
        "--tb=line", "-o", "addopts=", "-o", "filterwarnings=ignore", "-c", os.devnull,
        "-p", "no:cacheprovider", "-s", "--rootdir", str(folder()),
        *(str(folder() / path) for path in paths),
    ]  # fmt: skip
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = dict(re.findall(r"^(\S+::\S+).*?(PASSED|FAILED|SKIPPED|ERROR)", done.stdout, re.M))
    return found, done.stdout or done.stderr


def main(paths: list[str]) -> None:
    """Print the counts, and what differs."""
    theirs, _ = outcomes(paths, False)
    mine, text = outcomes(paths, True)
    passing = [name for name, how in theirs.items() if how == "PASSED"]
    kept = [name for name in passing if mine.get(name) == "PASSED"]
    print(f"{len(passing)} pass with TensorFlow, {len(kept)} of them lazily")
    print(text.strip().splitlines()[-1])
    for line in re.findall(r"^nodes recorded.*|^FALLBACK.*", text, re.M):
        print(line)
    for name in sorted(set(passing) - set(kept)):
        print("only with TensorFlow:", name, mine.get(name, "missing"))


if __name__ == "__main__":
    main(sys.argv[1:])
