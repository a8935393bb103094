"""The boxed kernel, loaded: `building/torch_kernel.py` compiles it."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, Final

import torch

from lazytensor.building import torch_kernel
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.interpreter.kernels import philox
from lazytensor.core.ir.memo import forget_also
from lazytensor.core.observe import metrics
from lazytensor.core.policy import EAGER_ELEMENTS, EAGER_TABLE, EAGER_WEIGHTS
from lazytensor.core.runtime import program_cache
from lazytensor.frontends.torch.native import plans
from lazytensor.frontends.torch.random.randomness import default, stream_of
from lazytensor.frontends.torch.tensors.tensor import Storage, entered, memory_of, ref, share


def _load() -> Any:
    reason = torch_kernel.fault()
    made = None
    if reason is None:
        try:
            made = _started(str(torch_kernel.path()))
        except ImportError as error:
            reason = f"{torch_kernel.path()} cannot be loaded: {error}"
    metrics.modes["torch's kernel"] = "compiled" if reason is None else f"Python, as {reason}"
    return made


def _started(path: str) -> Any:
    """The extension at a path, told what it needs of the core. Raises: ImportError."""
    loader = ExtensionFileLoader(torch_kernel.NAME, path)
    spec = spec_from_file_location(torch_kernel.NAME, path, loader=loader)
    assert spec is not None
    made: Any = module_from_spec(spec)
    loader.exec_module(made)
    compiled: Any = plans
    generator: Any = philox
    functions = (Cell, Storage, ref, share, memory_of, entered, stream_of)
    objects = {x.__name__: x for x in functions} | {"stream": default}
    bounds = EAGER_ELEMENTS, EAGER_WEIGHTS, EAGER_TABLE
    made.start(compiled.__pyx_capi__, generator.__pyx_capi__, bounds, objects)
    forget_also(made.forget)
    program_cache.ran.append(plans.ran)
    kind: Any = torch.UntypedStorage
    kind.handle = property(made.get_handle, made.set_handle)
    return made


boxed: Final = _load()
"""The extension; None where Python kernels do everything."""
