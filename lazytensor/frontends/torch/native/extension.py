"""The boxed kernel's extension module, which `building/torch_kernel.py` compiles.

`loading.py` gives it what it needs of the core.
"""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, Final

import torch

from lazytensor.building import torch_kernel
from lazytensor.core.observe import metrics


def _load() -> Any:
    reason = torch_kernel.fault()
    made = None
    if reason is None:
        try:
            made = _imported(str(torch_kernel.path()))
        except ImportError as error:
            reason = f"{torch_kernel.path()} cannot be loaded: {error}"
    metrics.modes["torch's kernel"] = "compiled" if reason is None else f"Python, as {reason}"
    return made


def _imported(path: str) -> Any:
    """The extension at a path. Raises: ImportError."""
    loader = ExtensionFileLoader(torch_kernel.NAME, path)
    spec = spec_from_file_location(torch_kernel.NAME, path, loader=loader)
    assert spec is not None
    made: Any = module_from_spec(spec)
    loader.exec_module(made)
    kind: Any = torch.UntypedStorage
    kind.handle = property(made.get_handle, made.set_handle)
    return made


boxed: Final[Any] = _load()
"""The extension; None where Python kernels do everything."""
