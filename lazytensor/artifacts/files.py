"""Files and folders that are there as a whole, or as they were before."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path


def replace(path: Path, fill: Callable[[Path], object]) -> None:
    """Put what `fill` writes at the path that it gets in the place of `path`."""
    new, old = (path.with_name(f".{path.name}.{word}") for word in ("new", "old"))
    for each in (new, old):
        remove(each)
    try:
        fill(new)
        if path.exists():
            path.rename(old)
        new.rename(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        raise
    finally:
        remove(new)
        remove(old)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
