"""Compiles the hot path when a wheel is built or the project is installed, where that is possible.

Without a C compiler the package is its Python sources, and says so in `lazytensor doctor`.
"""

import sys
import types
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledHotPath(BuildHookInterface):
    """Adds the binaries to the wheel, whose tag is then this Python's and this platform's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless `LAZYTENSOR_PURE=1` asks for a wheel of Python alone."""
        package = types.ModuleType("lazytensor")  # the real one needs NumPy and jax
        package.__path__ = [str(Path(self.root) / "lazytensor")]
        sys.modules["lazytensor"] = package
        from lazytensor.building import BuildError, hot_path
        from lazytensor.core import binaries

        if binaries.wants_sources():
            return
        try:
            if not hot_path.is_done():
                hot_path.build()
        except BuildError as error:
            self.app.display_warning(str(error))
            return
        names = [Path(binaries.binary_of(name)).name for name in hot_path.modules()]
        build_data["artifacts"] += [
            *(f"/lazytensor/**/{n}" for n in names),
            "/lazytensor/binaries.json",
        ]
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
