"""Loads XLA's shared library before Python imports it.

It has hundreds of megabytes. An import holds the GIL while the system's loader reads them. A
foreign function call does not.
"""

from __future__ import annotations

import ctypes
import os
from importlib.util import find_spec
from pathlib import Path


def load() -> None:
    """Load the library of the jaxlib that is installed. Where that fails, its import loads it."""
    found = find_spec("jaxlib")
    if os.name != "posix" or found is None or found.origin is None:
        return
    path = Path(found.origin).with_name("libjax_common.so")
    if path.exists():
        ctypes.CDLL(None).dlopen(os.fsencode(path), os.RTLD_NOW)


load()
