"""Compiles the hot path with Cython and a C compiler: see `core/binaries.py`.

The package's build calls it (`hatch_build.py`), and `lazytensor build`. It imports nothing of the
package but this folder and `core.binaries`, as neither NumPy nor jax is there while a wheel is
built.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

from lazytensor import building
from lazytensor.building import BuildError
from lazytensor.core import binaries

DIRECTIVES: Final[dict[str, Any]] = {
    "language_level": 3,
    "auto_pickle": False,
}
TYPED: Final = frozenset(
    f"lazytensor.frontends.numpy.{name}" for name in ("shortcuts", "ufuncs.calls", "ufuncs.recipes")
)
"""Modules whose annotations are types for Cython too: those of variables of inner functions, which
a .pxd file cannot name. The other modules' types are in their .pxd files."""
MACROS: Final = [("CYTHON_USE_TYPE_SPECS", "1")]  # a cell that is lent changes its class
LOG: Final = building.log("hot-path")
"""What Cython and the C compiler said in the last build."""
_PACKAGE: Final = Path(binaries.PACKAGE)
_ROOT: Final = _PACKAGE.parent
_ALONE: Final = """
import sys, types
package = types.ModuleType("lazytensor")
package.__path__ = [sys.argv[1]]
sys.modules["lazytensor"] = package
from lazytensor.building import hot_path
hot_path.compile_all()
"""
"""Calls `compile_all` in a process that has not imported the package itself."""


def modules() -> list[str]:
    """The names of the modules that are compiled."""
    found = sorted(path.with_suffix("") for path in _PACKAGE.rglob("*.pxd"))
    return [".".join(path.relative_to(_ROOT).parts) for path in found]


def is_done() -> bool:
    """Whether every module is compiled from today's sources."""
    return binaries.fault(modules()) is None


def build() -> None:
    """Compile the hot path beside its sources, in a process of its own. Raises: BuildError."""
    building.check_tools("the hot path")
    if not building.ran([sys.executable, "-c", _ALONE, binaries.PACKAGE], LOG):
        raise BuildError(f"the hot path is not compiled and runs as Python; {LOG} says why")


def compile_all() -> None:
    """Compile the hot path. Raises: what Cython and setuptools raise."""
    from Cython.Build import cythonize
    from setuptools import Distribution

    with tempfile.TemporaryDirectory(prefix="lazytensor-build-") as folder, chdir(_ROOT):
        sources = []
        for typed in (False, True):
            directives = {**DIRECTIVES, "annotation_typing": typed}
            sources += cythonize(
                _extensions(typed), compiler_directives=directives, build_dir=folder, quiet=True
            )
        distribution = Distribution({"name": "lazytensor", "ext_modules": sources})
        command = distribution.get_command_obj("build_ext")
        command.inplace, command.parallel = True, os.cpu_count()
        command.build_lib = command.build_temp = folder
        command.ensure_finalized()
        command.run()
    _remove_old()
    known = {name: binaries.digest(name) for name in modules()}
    written = {"suffix": binaries.BINARY_SUFFIX, "sources": known}
    Path(binaries.MANIFEST).write_text(json.dumps(written, indent=1) + "\n")


def _remove_old() -> None:
    """Remove the binaries of modules that are no longer compiled: Python would prefer them."""
    now = {binaries.binary_of(name) for name in modules()}
    for path in _PACKAGE.rglob(f"*{binaries.BINARY_SUFFIX}"):
        source = path.with_name(path.name.removesuffix(binaries.BINARY_SUFFIX) + ".py")
        if str(path) not in now and source.exists():
            path.unlink()


def _extensions(typed: bool) -> list[Any]:
    """The modules that are `TYPED`, or those that are not."""
    from setuptools import Extension

    made = []
    for name in modules():
        if (name in TYPED) is typed:
            stem = Path(binaries.stem_of(name))
            source = stem.with_suffix(".pyx")
            source = source if source.exists() else stem.with_suffix(".py")
            path = str(source.relative_to(_ROOT))
            made.append(Extension(name, [path], define_macros=MACROS))
    return made
