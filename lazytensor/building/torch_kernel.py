"""Compiles torch's boxed kernel (`frontends/torch/native/boxed.cpp`) for the installed torch.

The binary lies in the user's cache folder, under the digest of everything that it was made for. It
imports neither torch nor the frontend, so that `lazytensor build` does not wait for them.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from lazytensor import building
from lazytensor.building import BuildError
from lazytensor.core import binaries

NAME: Final = "lazytensor_boxed"
SOURCE: Final = Path(binaries.PACKAGE) / "frontends" / "torch" / "native" / "boxed.cpp"
CALLED: Final = SOURCE.with_name("plans.pxd")
"""The C functions that the source calls by pointer."""
LOG: Final = building.log("torch-kernel")
"""What the C++ compiler said in the last build."""
_COMPILE: Final = """
import sys
from setuptools import Distribution
from torch.utils.cpp_extension import BuildExtension, CppExtension
name, source, folder = sys.argv[1:]
extension = CppExtension(name, [source], extra_compile_args=["-O2", "-g0", "-fvisibility=hidden"])
made = Distribution({"ext_modules": [extension]})
command = BuildExtension(made, use_ninja=False, no_python_abi_suffix=True)
command.build_lib = command.build_temp = folder
command.ensure_finalized()
command.run()
"""


def path() -> Path | None:
    """Where the binary for the installed torch and today's source is; None without torch."""
    import platformdirs

    try:
        torch = version("torch")
    except PackageNotFoundError:
        return None
    made_for = torch, sys.version, binaries.BINARY_SUFFIX, sysconfig.get_config_var("CXX")
    sources = [*sorted(SOURCE.parent.glob("*.h")), SOURCE, CALLED]
    digest = hashlib.sha256(
        repr(made_for).encode() + b"".join(x.read_bytes() for x in sources)
    ).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("lazytensor"), "torch", digest, f"{NAME}.so")


def fault() -> str | None:
    """Why the binary cannot be used, if it cannot."""
    if binaries.mode != binaries.COMPILED:
        return "the hot path is Python"
    target = path()
    if target is None or not target.exists():
        return "nothing is compiled for this torch (`lazytensor build` compiles it)"
    return None


def build(target: Path) -> None:
    """Compile the boxed kernel, in a process of its own. Raises: BuildError."""
    building.check_tools("torch's kernel")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [sys.executable, "-c", _COMPILE, NAME, str(SOURCE), folder]
        if not building.ran(command, LOG, TORCH_DEVICE_BACKEND_AUTOLOAD="0"):
            raise BuildError(f"torch's kernel is not compiled and runs as Python; {LOG} says why")
        os.replace(Path(folder, target.name), target)  # at once: others may be loading it
