"""The boxed kernel with what it needs of the core and of the frontend."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.interpreter.kernels import philox
from lazytensor.core.ir.memo import forget_also
from lazytensor.core.policy import EAGER_ELEMENTS, EAGER_TABLE, EAGER_WEIGHTS
from lazytensor.core.runtime import program_cache
from lazytensor.frontends.torch.native import extension, plans
from lazytensor.frontends.torch.random.randomness import default, stream_of
from lazytensor.frontends.torch.tensors.tensor import Storage, entered, memory_of, ref, share


def _start(extension: Any) -> Any:
    compiled: Any = plans
    generator: Any = philox
    functions = (Cell, Storage, ref, share, memory_of, entered, stream_of)
    objects = {x.__name__: x for x in functions} | {"stream": default}
    bounds = EAGER_ELEMENTS, EAGER_WEIGHTS, EAGER_TABLE
    extension.start(compiled.__pyx_capi__, generator.__pyx_capi__, bounds, objects)
    forget_also(extension.forget)
    program_cache.ran.append(plans.ran)
    return extension


boxed: Final[Any] = None if extension.boxed is None else _start(extension.boxed)
"""The extension; None where Python kernels do everything."""
