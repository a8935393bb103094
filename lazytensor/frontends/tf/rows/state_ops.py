"""Raw ops on variables: reads, assignments, scattering into them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import ops as tf_ops

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, leaf
from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.dispatch.recording import REFUSED
from lazytensor.frontends.tf.dispatch.steps import initialise, watch_optimizers
from lazytensor.frontends.tf.dispatch.table import handle, handles
from lazytensor.frontends.tf.rows import checks, slices
from lazytensor.frontends.tf.rows.checks import Demand
from lazytensor.frontends.tf.rows.indexing import elements, gathered, scattered, scattered_rows
from lazytensor.frontends.tf.rows.shapes import attr
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.reads import read
from lazytensor.frontends.tf.tensors.tensor import TF, EagerTensor, LazyTensor, node_of
from lazytensor.frontends.tf.tensors.variables import (
    VariableCell,
    adopt,
    cell_of,
    handle_of,
    hold,
    is_variable,
)

Args = tuple[Any, ...]
_no_tape = pywrap_tfe.TFE_Py_TapeSetIsEmpty
_record = pywrap_tfe.TFE_Py_RecordGradient


@handles("ReadVariableOp")
def _read(ctx: Any, name: Any, args: Args) -> Any:
    return read(ctx, name, handle_of(args[0]), args[2])


def _given(x: Any, dtype: Any = None) -> Node | None:
    """The node of a value that is to be assigned."""
    if is_variable(x):
        x = x.value()
    if type(x) not in (LazyTensor, EagerTensor):
        x = tf_ops.convert_to_tensor(x, dtype=dtype)
    return node_of(x)


@handles("AssignVariableOp")
def _assign(ctx: Any, name: Any, args: Args) -> Any:
    handle = handle_of(args[0])
    node = _given(args[1])
    cell = cell_of(handle)
    if node is None or (cell is not None and not _fits(cell, node, args)):
        return fallback.native(_definition("AssignVariableOp"), ctx, name, args)
    if cell is None and type(args[1]) is EagerTensor and not node.type.ndim:
        return fallback.untouched(ctx, "AssignVariableOp", name, args)
    if cell is None:
        node = _first(node)
    hold(handle, node)
    return None


def _fits(cell: VariableCell, node: Node, args: Args) -> bool:
    """Whether a variable takes a value: of its dtype; of its shape, if that is to be validated."""
    old, new = cell.node.type, node.type
    return old is new or (old.dtype == new.dtype and not attr(args, 2, "validate_shape", False))


def _first(node: Node) -> Node:
    """The first value of a variable: what is everywhere the same, as data; else computed soon."""
    if node.value is not None or state.tracing:
        return node
    if node.op is ops.broadcast and node.operands and node.operands[0].op is SLOT:
        value = np.full(node.type.shape, node.operands[0].value, node.type.dtype)
        return leaf(value)
    initialise(node)
    return node


def _definition(name: str) -> opdef.OpDef:
    found = opdef.find(name)
    assert found is not None
    return found


def _cell(ctx: Any, handle: Any, dtype: Any) -> VariableCell | None:
    return cell_of(handle) or adopt(ctx, handle, dtype)


def _updating(op_name: str, update: Any) -> Any:
    """A handler: `update` says whether it gave the variable a new value. If not, TF's kernel does,
    or says what is wrong with the arguments.
    """
    definition = _definition(op_name)

    def handler(ctx: Any, name: Any, args: Args) -> Any:
        try:
            done = update(ctx, args)
        except REFUSED:
            done = False
        return None if done else fallback.native(definition, ctx, name, args)

    return handler


def _changing(change: Any) -> Any:
    """An update to `change(old value, given value)`."""

    def update(ctx: Any, args: Args) -> bool:
        handle = handle_of(args[0])
        cell = cell_of(handle)
        node = _given(args[1], None if cell is None else TF[cell.node.type.dtype])
        if node is not None and cell is None:
            cell = adopt(ctx, handle, TF[node.type.dtype])
        if node is None or cell is None or cell.node.type is not node.type:
            return False
        cell.write(change(cell.node, node))
        watch_optimizers()
        return True

    return update


for _name, _op in (("AssignAddVariableOp", ops.add), ("AssignSubVariableOp", ops.subtract)):
    handle(_name, _updating(_name, _changing(_op)))


@handles("VarIsInitializedOp")
def _is_initialized(ctx: Any, name: Any, args: Args) -> Any:
    if cell_of(handle_of(args[0])) is None:
        return fallback.execute(ctx, "VarIsInitializedOp", name, *args)
    return tf_ops.convert_to_tensor(True)


@handles("DestroyResourceOp")
def _destroy(ctx: Any, name: Any, args: Args) -> Any:
    handle = handle_of(args[0])
    if cell_of(handle) is not None:
        del handle._lazy_cell
    return fallback.execute(ctx, "DestroyResourceOp", name, *args)


@handles("ResourceGather")
def _gather(ctx: Any, name: Any, args: Args) -> Any:
    handle = handle_of(args[0])
    cell = _cell(ctx, handle, attr(args, 2, "dtype"))
    indices = _given(args[1])
    if cell is None or indices is None or attr(args, 2, "batch_dims", 0):
        return fallback.native(_definition("ResourceGather"), ctx, name, args)
    demands = [checks.inside(indices, cell.node.type.shape[0])]
    take = checks.demanding(lambda x: [gathered(x[0], x[1], 0)], demands, (cell.node, indices))
    made = LazyTensor(take((cell.node, indices))[0])
    if not _no_tape():
        given = args[1]
        if type(given) not in (LazyTensor, EagerTensor):
            given = tf_ops.convert_to_tensor(given)
        inferred = ("Tindices", given._datatype_enum())
        _record("ResourceGather", [handle, given], (*args[2:], *inferred), [made], None)
    return made


def _scattered_into(ctx: Any, args: Args, change: Any) -> tuple[Any, Any, Any]:
    """The cell, the indices and the changed updates of a scatter into a variable; None what is not
    ours.
    """
    handle = handle_of(args[0])
    cell = cell_of(handle)
    updates = _given(args[2], None if cell is None else TF[cell.node.type.dtype])
    indices = _given(args[1])
    if cell is None and updates is not None:
        cell = adopt(ctx, handle, TF[updates.type.dtype])
    if change is not None and cell is not None and indices is not None and updates is not None:
        # A whole number has no reciprocal: TF divides by one update after another.
        whole = change is ops.reciprocal and updates.type.dtype not in FLOATS
        updates = None if whole else change(updates)
    return cell, indices, updates


def _scattering(mode: str, change: Any) -> Any:
    def update(ctx: Any, args: Args) -> bool:
        cell, indices, updates = _scattered_into(ctx, args, change)
        if cell is None or indices is None or updates is None:
            return False
        made = scattered_rows(cell.node, indices, updates, mode)
        oks = [checks.required(checks.inside(indices, cell.node.type.shape[0]))]
        if change is ops.reciprocal:
            oks.append(checks.required(Demand(_given(args[2]), (), "updates must not contain 0")))
        cell.write(_where(oks, made, cell.node))
        return True

    return update


def _where(oks: list[Node | None], made: Node, before: Node) -> Node:
    """The new value where all is as demanded, as far as that is not known."""
    for ok in oks:
        made = made if ok is None else ops.select(ok, made, before)
    return made


SCATTERS: Final = {
    "Add": ("add", None),
    "Sub": ("add", ops.negate),
    "Update": ("set", None),
    "Mul": ("mul", None),
    "Div": ("mul", ops.reciprocal),
    "Min": ("min", None),
    "Max": ("max", None),
}
"""By what follows `ResourceScatter`: how updates are brought in, and what is made of them first."""
for _name, (_mode, _change) in SCATTERS.items():
    _full = f"ResourceScatter{_name}"
    handle(_full, _updating(_full, _scattering(_mode, _change)))


def _scattering_elements(mode: str, change: Any) -> Any:
    def update(ctx: Any, args: Args) -> bool:
        cell, indices, updates = _scattered_into(ctx, args, change)
        if cell is None or indices is None or updates is None or not indices.type.shape[-1]:
            return False
        made = scattered(cell.node, indices, updates, mode)
        oks = [checks.required(d) for d in elements(indices, cell.node.type.shape)]
        cell.write(_where(oks, made, cell.node))
        return True

    return update


for _name in ("NdAdd", "NdSub", "NdUpdate"):
    _full = f"ResourceScatter{_name}"
    _row = SCATTERS[_name.removeprefix("Nd")]
    handle(_full, _updating(_full, _scattering_elements(*_row)))


def _assign_slice(ctx: Any, args: Args) -> bool:
    handle = handle_of(args[0])
    cell = cell_of(handle)
    value = _given(args[4], None if cell is None else TF[cell.node.type.dtype])
    if cell is None and value is not None:
        cell = adopt(ctx, handle, TF[value.type.dtype])
    if cell is None or value is None:
        return False
    begin, end, strides = (host_value(x).array for x in args[1:4])
    masks = dict(zip(args[5::2], args[6::2], strict=True))
    cell.write(slices.assigned(cell.node, value, begin, end, strides, masks))
    return True


handle("ResourceStridedSliceAssign", _updating("ResourceStridedSliceAssign", _assign_slice))


@handles("VarHandleOp")
def _handle(ctx: Any, name: Any, args: Args) -> Any:
    return fallback.execute(ctx, "VarHandleOp", name, *args)
