"""Variables: a cell beside TF's own handle, ahead of TF's value until that is needed.

A variable keeps the handle that TF gave it. While a thread records, its value is in a cell on that
handle; before TF itself uses the handle (an op without a row, a thread that does not record, after
`disable()`), the cell's value is assigned to it and the cell is dropped. So there is always one
truth, and a variable made lazily is TF's like any other.
"""

from __future__ import annotations

from typing import Any, Final
from weakref import ref

from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import resource_variable_ops

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import (
    NUMPY,
    EagerTensor,
    as_leaf,
    of_array,
    own_leaf,
    value,
)

_execute: Final = pywrap_tfe.TFE_Py_FastPathExecute
_RESOURCE_DTYPE: Final = dtypes.resource.as_datatype_enum
_Variable: Final[Any] = resource_variable_ops.BaseResourceVariable


class VariableCell(Cell):
    """The cell of a variable.

    `native` is the serial number of the node whose value TF's own variable has: holding the node
    would keep its memory from being used for the new value.
    """

    __slots__ = ("handle", "native")

    def __init__(self, handle: Any, node: Node, native: Node | None) -> None:
        super().__init__(node)
        self.handle = ref(handle)
        self.native = -1 if native is None else native.serial


_cells: Final[dict[int, ref[VariableCell]]] = {}
"""Every cell, by its handle's identity, for `disable()`."""


def is_variable(x: Any) -> bool:
    """Whether `x` is one of TF's variables."""
    return isinstance(x, _Variable)


def handle_of(x: Any) -> Any:
    """The handle of a variable or itself."""
    return x if type(x) is EagerTensor else x.handle


def cell_of(handle: Any) -> VariableCell | None:
    """The cell of a handle, if it has one now."""
    found: VariableCell | None = getattr(handle, "_lazy_cell", None)
    return found


def hold(handle: Any, node: Node, native: Node | None = None) -> None:
    """Make `node` the value of the variable."""
    if native is None:
        node = as_leaf(node)
    found = cell_of(handle)
    if found is not None:  # nothing views it: the new value may be of another shape
        found.write(node)
        return
    made = handle._lazy_cell = VariableCell(handle, node, native)
    key = id(handle)

    def forget(_: Any) -> None:
        _cells.pop(key, None)

    _cells[key] = ref(made, forget)


def adopt(ctx: Any, handle: Any, dtype: Any) -> VariableCell | None:
    """A cell with the value that TF's variable has; None if it has none, or XLA not its dtype."""
    if NUMPY.get(dtypes.as_dtype(dtype).as_datatype_enum) is None:
        return None
    if not bool(_execute(ctx, "VarIsInitializedOp", None, handle)):
        return None
    read = _execute(ctx, "ReadVariableOp", None, handle, "dtype", dtype)
    data = read._numpy()
    # A copy: what TF's memory is, TF may write to in place.
    node = own_leaf(data) if getattr(data, "ndim", 0) else as_leaf(scalar(data.item(), data.dtype))
    hold(handle, node, native=node)
    return cell_of(handle)


def give_back(handle: Any) -> None:
    """Assign what the cell holds to TF's variable, and drop the cell."""
    found = cell_of(handle)
    if found is None:
        return
    if state.tracing:
        from lazytensor.frontends.tf.tensors.tensor import ValueNeeded

        raise ValueNeeded
    if found.node.serial != found.native:
        from tensorflow.python.eager import context

        tensor = of_array(value(found.node))
        ctx = context.context()
        _execute(ctx, "AssignVariableOp", None, handle, tensor, "validate_shape", False)
    del handle._lazy_cell


def give_back_all() -> None:
    """Every variable becomes TF's again; one whose value was refused has the value TF knows.

    Raises: what the first such value was refused for, once all others are given back.
    """
    refused: list[Exception] = []
    for known in list(_cells.values()):
        cell = known()
        handle = cell.handle() if cell is not None else None
        if handle is None:
            continue
        try:
            give_back(handle)
        except Exception as error:  # noqa: BLE001 -- the next variable has a value all the same
            refused.append(error)
            del handle._lazy_cell
    if refused:
        raise refused[0]


def is_handle(x: Any) -> bool:
    """Whether `x` is a resource."""
    return type(x) is EagerTensor and x._datatype_enum() == _RESOURCE_DTYPE
