"""What a raw op is called with, as tensors and as values of the host's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.framework.dtypes import as_dtype

from lazytensor.frontends.tf.dispatch.host import HostValue, host_value
from lazytensor.frontends.tf.dispatch.opdef import Input, OpDef
from lazytensor.frontends.tf.tensors import constants
from lazytensor.frontends.tf.tensors.reads import is_readable, value_of
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor
from lazytensor.frontends.tf.tensors.variables import is_variable

Takes = tuple[tuple[bool, bool], ...]
"""Per input, whether its value is the host's, and whether it is a list."""


def as_tensors(
    ctx: Any, definition: OpDef, takes: Takes, args: tuple[Any, ...]
) -> list[Any] | None:
    """The inputs with numbers and variables as tensors; None if that is not all there is."""
    made, numbers = list(args), []
    dtypes: dict[str, Any] = {}
    for i, (x, (is_host, is_list)) in enumerate(zip(args, takes, strict=True)):
        if is_host or is_list:
            continue
        kind, given = type(x), definition.inputs[i]
        if kind in constants.NUMBERS:
            numbers.append((i, given))
            continue
        if kind is not LazyTensor and kind is not EagerTensor:
            if not is_readable(x):
                return None
            made[i] = x = value_of(ctx, x)
        if given.type_attr:
            dtypes.setdefault(given.type_attr, x.dtype)
    try:
        for i, given in numbers:
            dtype = dtypes[given.type_attr] if given.type_attr else as_dtype(given.type)
            made[i] = constants.number(args[i], dtype)
    except (TypeError, ValueError, OverflowError, KeyError):  # TF says what is wrong
        return None
    return None if all(x is y for x, y in zip(made, args, strict=True)) else made


def converted(definition: OpDef, host: tuple[int, ...], args: tuple[Any, ...]) -> list[Any]:
    """The inputs as tensors, those of the host's as arrays, lists of tensors as lists."""
    wanted: dict[str, Any] = {}
    found: list[Any] = []
    for given, x in zip(definition.inputs, args, strict=True):
        items = list(x) if given.is_list else [x]
        for item in items:
            if given.type_attr and type(item) in (LazyTensor, EagerTensor):
                wanted.setdefault(given.type_attr, item.dtype)
        found.append(items)
    made: list[Any] = []
    for i, (given, items) in enumerate(zip(definition.inputs, found, strict=True)):
        dtype = wanted.get(given.type_attr) or (given.type or None)
        if i in host:
            made.append(host_value(items[0], dtype))
            continue
        tensors = [_tensor(definition, given, item, dtype) for item in items]
        if given.type_attr and tensors:
            wanted.setdefault(given.type_attr, tensors[0].dtype)
        made.append(tensors if given.is_list else tensors[0])
    return made


def _tensor(definition: OpDef, given: Input, x: Any, dtype: Any) -> Any:
    if type(x) in (LazyTensor, EagerTensor):
        return x
    if is_variable(x):
        return x.value()
    if dtype is None and given.type_attr and not hasattr(x, "dtype"):
        default = definition.default_dtype(given.type_attr)
        return tf_ops.convert_to_tensor(x, dtype_hint=default)
    return tf_ops.convert_to_tensor(x, dtype=dtype)


def tape_inputs(args: Sequence[Any], hosts: tuple[HostValue | None, ...]) -> list[Any]:
    """The inputs in one list for the tape."""
    found: list[Any] = []
    for x, host in zip(args, hosts, strict=True):
        if x.__class__ is EagerTensor:  # lazy ones say so too
            found.append(x)
        elif host is not None:
            found.append(constants.tensor_of(host))
        else:
            found += x
    return found


def kept(args: Sequence[Any], made: Sequence[Any]) -> list[Any]:
    """What the tape may keep of inputs: a tensor as it was given, else what became of it."""
    return [x if x.__class__ is EagerTensor else y for x, y in zip(args, made, strict=False)]
