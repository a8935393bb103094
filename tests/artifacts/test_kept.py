"""Artifacts that earlier versions wrote, which every later version loads and runs.

`python -m tests.artifacts.test_kept` writes those of the present version into the folder `kept`.
"""

from __future__ import annotations

from pathlib import Path

import jaxlib.version
import numpy as np
import pytest

import lazytensor
from tests.artifacts.programs import PROGRAMS, assert_close, leaves

FOLDER = Path(__file__).parent / "kept"
WRITTEN = ("pipeline", "indexing", "mlp", "cnn", "transformer", "lstm")
KEPT = sorted(FOLDER.glob("*.zip"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_an_old_artifact_gives_what_it_gave(path: Path) -> None:
    kept = np.load(path.with_suffix(".npz"))
    given, expected = ([kept[n] for n in sorted(kept) if n[0] == c] for c in "xy")
    assert_close(lazytensor.load(path)(*given), expected)


def test_there_are_old_artifacts() -> None:
    assert len(KEPT) >= len(WRITTEN)


def write() -> None:
    """Write artifacts of this version, those with an open size where there is one."""
    version = f"{lazytensor.__version__}-{jaxlib.version.__version__}"
    for name in WRITTEN:
        example = PROGRAMS[name]
        path = FOLDER / f"{version}-{name}.zip"
        artifact = lazytensor.load(example.exported(bool(example.size), name).save(path))
        arrays = {f"x{i}": x for i, x in enumerate(example.arrays)}
        found = leaves(artifact(*example.arrays))
        np.savez(path.with_suffix(".npz"), **arrays, **{f"y{i}": y for i, y in enumerate(found)})


if __name__ == "__main__":
    write()
