"""StableHLO of another compiler: parsed, checked, inlined."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import element_type
from lazytensor.backends.xla.builder import Value, operations
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.library import merged
from lazytensor.core import ops
from lazytensor.core.device.backend import Imported
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import STORED
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.foreign import Foreign

CALLED: Final = frozenset(["TopK", "mhlo.topk"])
"""Custom calls that XLA itself has; others are functions of the module's compiler."""


def imported(text: str) -> Imported:
    """See `core.device.backend.Backend.imported`."""
    with client.context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError as error:
            raise Unsupported(f"the module is not StableHLO of this version: {error}") from None
        # Its name may be a running number of its compiler, and must not distinguish modules.
        module.operation.attributes["sym_name"] = ir.StringAttr.get("foreign")
        for op in operations(module):
            if op.name == "stablehlo.custom_call":
                target = ir.StringAttr(op.attributes["call_target_name"]).value
                if target not in CALLED:
                    raise Unsupported(f"the module calls {target}, which XLA lacks")
        main = next(op for op in module.body.operations if op.name.value == "main")
        ends = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        types = [tuple(map(_type, side)) for side in (ends.inputs, ends.results)]
        return Imported(str(module), *types)


def _type(given: Any) -> TensorType:
    try:
        found = ir.RankedTensorType(given)
    except ValueError:
        raise Unsupported(f"the module has a {given}") from None
    dtypes = {str(element_type(dtype)): dtype for dtype in STORED}
    dtype = dtypes.get(str(found.element_type))
    if dtype is None or not found.has_static_shape:
        raise Unsupported(f"the module has a {given}")
    return tensor_type(np.dtype(dtype), tuple(found.shape))


def _lower(e: Emitter, type: Any, *operands: Value, module: Foreign) -> Any:
    types = type if isinstance(type, tuple) else (type,)
    results = merged(e, module, lambda: module.text, types, operands)
    return results if isinstance(type, tuple) else results[0]


ROWS: Rows = {ops.foreign: _lower}
