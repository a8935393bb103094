"""Reads of variables: by the raw op, and by an operation that is given a variable."""

from __future__ import annotations

from typing import Any, Final

from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import dtypes
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops import resource_variable_ops

from lazytensor.frontends.tf.dispatch import fallback
from lazytensor.frontends.tf.dispatch.steps import settle_variables, step
from lazytensor.frontends.tf.tensors.tensor import LazyTensor
from lazytensor.frontends.tf.tensors.variables import adopt, is_variable

_no_tape: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
_record: Final = pywrap_tfe.TFE_Py_RecordGradient
_accessed: Final = pywrap_tfe.TFE_Py_TapeVariableAccessed
_watched: Final = pywrap_tfe.TFE_Py_VariableWatcherVariableAccessed
_HOLDS: Final = "_should_act_as_resource_variable"
_Plain: Final[Any] = resource_variable_ops.ResourceVariable


def read(ctx: Any, name: Any, handle: Any, dtype: Any) -> Any:
    """What the variable of a handle holds."""
    if step.fresh:
        settle_variables()
    cell = getattr(handle, "_lazy_cell", None) or adopt(ctx, handle, dtype)
    if cell is None:
        return fallback.untouched(ctx, "ReadVariableOp", name, (handle, "dtype", dtype))
    made = LazyTensor(cell.node)
    if not _no_tape():
        step.begin()
        number = dtypes.as_dtype(dtype).as_datatype_enum
        _record("ReadVariableOp", [handle], ("dtype", number), [made], None)
    return made


def is_readable(x: Any) -> bool:
    """Whether `x` is a variable: TensorFlow's, or an object that holds one, as Keras's do."""
    return type(x) is _Plain or getattr(type(x), _HOLDS, False) or is_variable(x)


def value_of(ctx: Any, variable: Any) -> Any:
    """The tensor that a variable is converted to.

    For a plain variable TensorFlow's checks are skipped. Tapes and watchers are told of the read,
    as by TensorFlow's own entry.
    """
    if type(variable) is not _Plain:
        if is_variable(variable):
            return variable.value()
        held = variable.value
        return value_of(ctx, held) if is_readable(held) else tf_ops.convert_to_tensor(held)
    if variable._cached_value is not None or variable._caching_device is not None:
        return variable.value()
    if variable._trainable:
        _accessed(variable)
        _watched(variable)
    variable._variable_read = True
    return read(ctx, None, variable._handle, variable._dtype)
