"""Which code is the user's own, and which came with Python, with a package, or with lazytensor."""

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
    """Whether the module in `file` is the user's own; one that is installed editable is."""
    # Both spellings count: an environment may be reached through a link, and so may a project.
    for path in {Path(file).absolute(), Path(file).resolve()}:
        if not THIRD_PARTY.isdisjoint(path.parts):
            return False
        if any(path.is_relative_to(folder) for folder in _not_the_users()):
            return False
    return True


def is_users_namespace(namespace: Mapping[str, Any], frame: FrameType | None) -> bool:
    """Whether code with these globals is the user's; `frame` is the one that runs it."""
    if namespace.get("__name__") == "__main__":
        return True
    # A bare dict given to `exec` says nothing of itself: its code belongs to whoever runs it.
    while frame is not None and "__file__" not in namespace and "__spec__" not in namespace:
        frame = frame.f_back
        namespace = frame.f_globals if frame is not None else {}
        if namespace.get("__name__") == "__main__":
            return True
    file = namespace.get("__file__")
    return isinstance(file, str) and is_users_file(file)
