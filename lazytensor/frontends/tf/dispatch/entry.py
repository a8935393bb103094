"""The choke point: TF's two entries for eager operations, and the other doors into its C++.

All names are replaced while some thread records, and put back when none does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.eager.record import stop_recording
from tensorflow.python.framework import constant_op, dtypes
from tensorflow.python.ops import script_ops

from lazytensor.core.buffers.interop import offered
from lazytensor.frontends.tf.dispatch import fallback, opdef, table
from lazytensor.frontends.tf.dispatch.fast_path import fast
from lazytensor.frontends.tf.functions import bodies, graphs
from lazytensor.frontends.tf.rows.shapes import host_shape
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.sharing import taken, values
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, eager, shape_of
from lazytensor.frontends.tf.tensors.variables import cell_of


def _slow(handle: Any, device: Any, op: Any, inputs: Any, attrs: Any, outputs: int) -> list[Any]:
    """What `TFE_Py_Execute` is replaced by: inputs are flat, the caller keeps the tape."""
    inputs = list(inputs)
    text = op.decode() if isinstance(op, bytes) else op
    plain = not any(type(x) is LazyTensor or _has_cell(x) for x in inputs)
    definition = opdef.find(text)
    if definition is None or text in graphs.CALLS:
        if state.on and (found := bodies.called(text, inputs, attrs)) is not None:
            return found
        for x in inputs:
            fallback.settle(x)
        return _ORIGINAL["TFE_Py_Execute"](
            handle, device, op, [eager(x) for x in inputs], attrs, outputs
        )
    if not state.on or (plain and text not in table.HANDLERS):
        for x in inputs:
            fallback.settle(x)
        return _ORIGINAL["TFE_Py_Execute"](
            handle, device, op, [eager(x) for x in inputs], attrs, outputs
        )
    args = regrouped(definition, inputs, attrs)
    handler = table.find(text)
    assert handler is not None
    with stop_recording():
        made = handler(context.context(), None, args)
    return bodies.flat(made)


def _has_cell(x: Any) -> bool:
    return type(x) is EagerTensor and cell_of(x) is not None


def regrouped(
    definition: opdef.OpDef, inputs: Sequence[Any], attrs: Sequence[Any]
) -> tuple[Any, ...]:
    """The arguments of the fast path: lists of inputs as lists, no attributes that are inferred."""
    attrs = attrs or ()  # None for an op that has none
    named = dict(zip(attrs[::2], attrs[1::2], strict=True))
    rest = list(inputs)
    grouped: list[Any] = []
    for given in definition.inputs:
        if not given.is_list:
            grouped.append(rest.pop(0))
            continue
        count = named[given.number_attr] if given.number_attr else len(named[given.type_list_attr])
        grouped.append(rest[:count])
        del rest[:count]
    kept = [
        part for name, v in named.items() if name not in definition.inferred for part in (name, v)
    ]
    return (*grouped, *kept)


def _cancelable(
    handle: Any, device: Any, op: Any, inputs: Any, attrs: Any, manager: Any, outputs: int
) -> Any:
    if state.on or any(type(x) is LazyTensor or _has_cell(x) for x in inputs):
        return _slow(handle, device, op, inputs, attrs, outputs)
    return _ORIGINAL["TFE_Py_ExecuteCancelable"](
        handle, device, op, inputs, attrs, manager, outputs
    )


def _shape_slice(tensors: Any, axis: int) -> Any:
    if any(type(x) is LazyTensor for x in tensors):
        return host_shape(tuple(shape_of(x)[axis] for x in tensors), "int32")
    return _ORIGINAL["TFE_Py_TensorShapeSlice"](tensors, axis)


def _dlpack(x: Any) -> Any:
    return _ORIGINAL["TFE_ToDlpackCapsule"](eager(x))


def _pack(tensors: Any) -> Any:
    if any(type(x) is LazyTensor for x in tensors):
        from tensorflow.python.ops import array_ops_stack

        return array_ops_stack.stack(tensors)
    return _ORIGINAL["TFE_Py_PackEagerTensors"](tensors)


def _returned(self: Any, value: Any, dtype: Any = None) -> Any:
    """What a Python function hands to the kernel that called it, maybe in another thread."""
    return eager(_ORIGINAL["_convert"](self, eager(value), dtype))


def _constant(value: Any, ctx: Any, dtype: Any = None) -> Any:
    """`tf.constant` of nested lists with lazy tensors in them."""
    if isinstance(value, list | tuple) and _nested_lazy(value):
        from tensorflow.python.ops import array_ops_stack

        made = array_ops_stack.stack([_constant(item, ctx, dtype) for item in value])
        return made if dtype is None else _as(made, dtype)
    if type(value) is LazyTensor:
        return value
    offer = offered(value)
    if offer is not None and not state.on:
        value = values(offer)
    elif offer is not None and (made := taken(offer)) is not None:  # nothing is computed
        return made if dtype is None else _as(made, dtype)
    return _ORIGINAL["convert_to_eager_tensor"](value, ctx, dtype)


def _as(x: Any, dtype: Any) -> Any:
    from tensorflow.python.ops import math_ops

    return math_ops.cast(x, dtypes.as_dtype(dtype))


def _nested_lazy(value: Any) -> bool:
    return any(
        type(item) is LazyTensor or (isinstance(item, list | tuple) and _nested_lazy(item))
        for item in value
    )


_DOORS: Final[dict[str, tuple[Any, Callable[..., Any]]]] = {
    "TFE_Py_FastPathExecute": (pywrap_tfe, fast),
    "TFE_Py_Execute": (pywrap_tfe, _slow),
    "TFE_Py_ExecuteCancelable": (pywrap_tfe, _cancelable),
    "TFE_Py_TensorShapeSlice": (pywrap_tfe, _shape_slice),
    "TFE_ToDlpackCapsule": (pywrap_tfe, _dlpack),
    "TFE_Py_PackEagerTensors": (pywrap_tfe, _pack),
    "convert_to_eager_tensor": (constant_op, _constant),
    "_convert": (script_ops.EagerFunc, _returned),
}
_ORIGINAL: Final[dict[str, Any]] = {}
_lock: Final = threading.Lock()


def missing() -> list[str]:
    """Names that this TensorFlow has not under which others know them."""
    return [name for name, (module, _) in _DOORS.items() if not hasattr(module, name)]


def open_doors() -> None:
    """Put the replacements in place."""
    with _lock:
        if not _ORIGINAL:
            for name, (module, replacement) in _DOORS.items():
                _ORIGINAL[name] = getattr(module, name)
                setattr(module, name, replacement)


def close_doors() -> None:
    """Put TF's own back."""
    with _lock:
        for name, original in _ORIGINAL.items():
            setattr(_DOORS[name][0], name, original)
        _ORIGINAL.clear()
