"""Tensors of host values, memoized: numbers among the inputs, and earlier results of TF's kernels.

Shapes, counts and axes go through the same few operations in every step. For small scalars and
vectors the result is looked up, which is far cheaper than calling a kernel.
"""

from __future__ import annotations

from typing import Any, Final

from tensorflow.python.framework import ops as tf_ops

from lazytensor.core.ir.memo import keep
from lazytensor.frontends.tf.dispatch import fallback
from lazytensor.frontends.tf.dispatch.host import HostValue, host_value
from lazytensor.frontends.tf.tensors.tensor import NUMPY, EagerTensor, of_array

ENTRIES_BOUND: Final = 4096
LARGEST: Final = 16
"""Most elements of a tensor that is kept."""
NUMBERS: Final = frozenset([bool, int, float])
_numbers: Final[dict[Any, Any]] = {}
_tensors: Final[dict[Any, Any]] = {}
_results: Final[dict[Any, Any]] = {}


def number(value: bool | int | float, dtype: Any) -> Any:
    """TF's tensor of a Python number. Raises: what TF does for one that the dtype has not."""
    key = (dtype, type(value), value)  # 1, 1.0 and True are equal
    found = _numbers.get(key)
    if found is None:
        found = tf_ops.convert_to_tensor(value, dtype=dtype)
        keep(_numbers, key, found, ENTRIES_BOUND)
    return found


def tensor_of(x: HostValue) -> Any:
    """TF's tensor of a value that the host has."""
    if x.tensor is None:
        if x.array.size > LARGEST:
            x.tensor = of_array(x.array)
        else:
            x.tensor = _tensors.get(x.key)
            if x.tensor is None:
                x.tensor = of_array(x.array)
                keep(_tensors, x.key, x.tensor, ENTRIES_BOUND)
    return x.tensor


def computed(ctx: Any, op: str, name: Any, args: tuple[Any, ...], arity: int) -> Any:
    """The result of TF's kernel on host tensors; the same tensor for the same numbers."""
    try:
        key = (op, *map(_key, args[:arity]), *map(_attribute, args[arity:]))
        found = _results.get(key)
    except TypeError:  # large, or not only numbers
        return fallback.untouched(ctx, op, name, args)
    if found is None:
        found = fallback.untouched(ctx, op, name, args)
        if type(found) is EagerTensor and _is_small(found):
            keep(_results, key, found, ENTRIES_BOUND)
    return found


def _is_small(x: Any) -> bool:
    return x._rank() <= 1 and x._num_elements() <= LARGEST and x._datatype_enum() in NUMPY


def _key(x: Any) -> Any:
    """An input's part of the key of a result. Raises: TypeError for an input that is not small."""
    kind = type(x)
    if kind is EagerTensor:
        if not _is_small(x):
            raise TypeError
        return host_value(x).key
    if kind is int:
        return x
    if kind is list or kind is tuple:
        return tuple([_key(item) for item in x])
    raise TypeError


def _attribute(x: Any) -> Any:
    return tuple(x) if x.__class__ is list else x
