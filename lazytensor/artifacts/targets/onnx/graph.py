"""An ONNX graph while it is made of a StableHLO function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

from lazytensor.backends.xla.portable.operations import Block, Module, Operation, Type
from lazytensor.core.errors import Unsupported

OPSET: Final = 20
"""The version of ONNX's operations: the first in which all but `BitCast` has its final form."""
OPSET_OF_BITS: Final = 26
"""The first version that has `BitCast`."""


class Refused(Unsupported):
    """An operation that ONNX lacks, or has not in this form. place: the user's line."""

    place = ""


class Graph:
    """Nodes and constants. Values are names; `names` has those of the module's values."""

    def __init__(self, module: Module, outer: Graph | None = None) -> None:
        self.module = module
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.values: dict[str, np.ndarray] = {} if outer is None else outer.values
        self.names: dict[int, str] = {} if outer is None else dict(outer.names)
        self.root: Graph = self if outer is None else outer.root
        self.made = 0
        self.opset = OPSET

    def fresh(self) -> str:
        """A name that no other value has; those of inputs and weights begin otherwise."""
        self.root.made += 1
        return f"%{self.root.made}"

    def type(self, value: int) -> Type:
        """The dtype and shape of a value of the module."""
        return self.module.types[value]

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        return self.several(op, inputs, 1, **attributes)[0]

    def several(self, op: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """A node with `count` results."""
        names = [self.fresh() for _ in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names

    def constant(self, array: Any, dtype: Any = None) -> str:
        """A constant."""
        name = self.fresh()
        self.values[name] = value = np.asarray(array, dtype)
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def known(self, x: str) -> np.ndarray | None:
        """The elements of a value, if it is a constant or one that was broadcast."""
        return self.values.get(x)

    def ints(self, values: Iterable[int]) -> str:
        """A vector of int64."""
        return self.constant(list(values), np.int64)

    def cast(self, x: str, dtype: np.dtype) -> str:
        """The value as another dtype."""
        return self.node("Cast", x, to=element(dtype))

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """The value in another shape, of which one size may be -1."""
        return self.node("Reshape", x, self.ints(shape), allowzero=int(0 in shape))

    def transpose(self, x: str, axes: Sequence[int]) -> str:
        """The value with its axes in another order."""
        if list(axes) == sorted(axes):
            return x
        return self.node("Transpose", x, perm=list(axes))

    def sizes(self, value: int) -> str:
        """The shape of a value, as int64."""
        return self.node("Shape", self.names[value])

    def static(self, value: int, what: str) -> tuple[int, ...]:
        """The shape of a value. Raises: Refused if a size is known at run time only."""
        shape = self.type(value).shape
        if -1 in shape:
            raise Refused(f"{what} of a size that is known at run time only")
        return shape

    def graph(self, name: str, block: Block, inputs: Sequence[Any], outputs: Sequence[str]) -> Any:
        """The finished graph."""
        ends = [info(n, self.type(value)) for n, value in zip(outputs, block.results, strict=True)]
        return helper.make_graph(self.nodes, name, list(inputs), ends, self.constants)


def element(dtype: np.dtype) -> int:
    """ONNX's number of a dtype. Raises: Refused for one that it lacks."""
    try:
        return int(helper.np_dtype_to_tensor_dtype(dtype))
    except (KeyError, ValueError):
        raise Refused(f"the dtype {dtype}") from None


def info(name: str, type: Type, sizes: Sequence[Any] = ()) -> Any:
    """The declaration of an input or output. sizes: names for those known at run time only."""
    shape = sizes or [None if n == -1 else n for n in type.shape]
    return helper.make_tensor_value_info(name, element(type.dtype), shape)


def body_of(op: Operation, region: int = 0) -> tuple[str, ...]:
    """The names of the operations in a region."""
    return tuple(inner.name for inner in op.regions[region].operations)


def only_operation(op: Operation) -> str:
    """The one operation of two arguments that a region is. Raises: Refused."""
    block = op.regions[0]
    if len(block.operations) == 1 and block.results == block.operations[0].results:
        inner = block.operations[0]
        if sorted(inner.operands) == sorted(block.arguments) and len(inner.operands) == 2:
            return inner.name
    if not block.operations and len(block.arguments) == 2 and block.results == block.arguments[1:]:
        return "second"
    raise Refused(f"{op.name} by a function of {', '.join(body_of(op)) or 'its operands'}")
