"""What TF says of a raw op: its inputs, its attributes, its results."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import dtypes, op_def_registry, tensor_shape, tensor_util


class Input(NamedTuple):
    """An input: the attribute that names its dtype, or the dtype; the attribute of its length."""

    name: str
    type_attr: str
    type: int
    number_attr: str
    type_list_attr: str

    @property
    def is_list(self) -> bool:
        """Whether it is a list of tensors."""
        return bool(self.number_attr or self.type_list_attr)


class OpDef:
    """A raw op as its callers see it."""

    def __init__(self, name: str, definition: Any) -> None:
        self.name = name
        self.inputs = tuple(
            Input(a.name, a.type_attr, a.type, a.number_attr, a.type_list_attr)
            for a in definition.input_arg
        )
        self.arity = len(self.inputs)
        self.simple = not any(given.is_list for given in self.inputs)
        self.outputs = tuple(bool(a.number_attr or a.type_list_attr) for a in definition.output_arg)
        self.inferred = frozenset(
            attr
            for given in self.inputs
            for attr in (given.type_attr, given.number_attr, given.type_list_attr)
            if attr
        )
        self.kinds = {a.name: a.type for a in definition.attr}
        self.listed = any(a.type.startswith("list") for a in definition.attr)
        self.defaults = {
            a.name: a.default_value for a in definition.attr if a.HasField("default_value")
        }
        self.stateful = bool(definition.is_stateful)

    def attributes(self, given: tuple[Any, ...]) -> dict[str, Any]:
        """The attributes, as alternating names and values, in Python's and NumPy's terms."""
        found = {}
        for name, value in zip(given[::2], given[1::2], strict=True):
            if value is None and name in self.defaults:
                value = plain(self.defaults[name])
            if name not in self.inferred:
                found[name] = normal(value, self.kinds.get(name, ""))
        return found

    def default_dtype(self, attr: str) -> Any:
        """The dtype that an attribute has by default, if it has one."""
        found = self.defaults.get(attr)
        return dtypes.as_dtype(found.type) if found is not None else None


def normal(value: Any, kind: str) -> Any:
    """An attribute's value: hashable, dtypes as NumPy's where NumPy has them."""
    if kind == "shape" and value is not None:
        shape = tensor_shape.as_shape(value)
        return None if shape.rank is None else tuple(shape.as_list())
    if isinstance(value, list | tuple):
        inner = kind.removeprefix("list(").removesuffix(")")
        return tuple(normal(item, inner) for item in value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if kind == "type" and value is not None:
        dtype = dtypes.as_dtype(value)
        return np.dtype(dtype.as_numpy_dtype) if dtype.is_numpy_compatible else dtype
    return value


_FORMS = {"type": dtypes.as_dtype, "shape": tensor_shape.TensorShape}


def plain(value: Any) -> Any:
    """The Python value of an AttrValue."""
    field = value.WhichOneof("value")
    if field == "list":
        for name in ("s", "i", "f", "b", "type", "shape", "func"):
            items = list(getattr(value.list, name))
            if items:
                return [_FORMS[name](item) for item in items] if name in _FORMS else items
        return []
    found = getattr(value, field)
    if field in _FORMS:
        return _FORMS[field](found)
    if field == "tensor":
        return tensor_util.MakeNdarray(found)
    return found


@cache
def find(name: str) -> OpDef | None:
    """The raw op of this name; None for a function's."""
    definition = op_def_registry.get(name)
    return None if definition is None else OpDef(name, definition)


VARIANT = types_pb2.DT_VARIANT
