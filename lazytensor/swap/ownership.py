"""Whether code is the user's own, or belongs to Python, to a package, or to lazytensor."""

import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

THIRD_PARTY = frozenset({"site-packages", "dist-packages"})


@cache
def _not_the_users() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    library = Path(paths["stdlib"])
    zipped = library.parent / f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    return (Path(__file__).resolve().parents[1], library, Path(paths["platstdlib"]), zipped)


@cache
def is_users_file(file: str) -> bool:
    """Whether the module in `file` is the user's own; an editable install counts as such."""
    # Check both spellings: an environment or a project may be reached through a link.
    for path in {Path(file).absolute(), Path(file).resolve()}:
        if not THIRD_PARTY.isdisjoint(path.parts):
            return False
        if any(path.is_relative_to(folder) for folder in _not_the_users()):
            return False
    return True


def is_users_namespace(namespace: Mapping[str, Any], frame: FrameType | None) -> bool:
    """Whether code with these globals, run by `frame`, is the user's."""
    if namespace.get("__name__") == "__main__":
        return True
    # A bare dict passed to `exec` has no origin of its own: its code belongs to the caller.
    while frame is not None and "__file__" not in namespace and "__spec__" not in namespace:
        frame = frame.f_back
        namespace = frame.f_globals if frame is not None else {}
        if namespace.get("__name__") == "__main__":
            return True
    file = namespace.get("__file__")
    return isinstance(file, str) and is_users_file(file)
