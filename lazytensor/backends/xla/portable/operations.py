"""A portable module as plain data, for what writes it in another format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import element_type
from lazytensor.backends.xla.builder import attribute_names
from lazytensor.backends.xla.portable.modules import check_operations, main, parsed, place_of
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import STORED
from lazytensor.core.ir.types import tensor_type

PREFIX: Final = "stablehlo."
_LISTS: Final = re.compile(r"(\w+) = \[([-\d, ]*)\]")
_NUMBERS: Final = re.compile(r"(\w+) = (-?\d+)")
_ENUM: Final = re.compile(r"#stablehlo<\w+ (\w+)>")


class Type(NamedTuple):
    """A tensor's dtype and shape; a size is -1 where it is known at run time only."""

    dtype: np.dtype
    shape: tuple[int, ...]


class Operation(NamedTuple):
    """One operation; values are numbers that `Module.types` has.

    attributes: by name, as Python values; the structures of StableHLO as mappings. place: the
    user's line, `file.py:12`, or empty.
    """

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    attributes: dict[str, Any]
    regions: tuple[Block, ...]
    place: str


class Block(NamedTuple):
    """Operations on arguments. A region may use the values that are defined around it."""

    arguments: tuple[int, ...]
    operations: tuple[Operation, ...]
    results: tuple[int, ...]


class Module(NamedTuple):
    """A function of tensors, and the types of all values in it."""

    main: Block
    types: tuple[Type, ...]

    def operations(self) -> Iterator[Operation]:
        """Every operation, those of regions too."""
        todo = list(reversed(self.main.operations))
        while todo:
            op = todo.pop()
            yield op
            todo += [inner for region in op.regions for inner in reversed(region.operations)]


def read(data: bytes) -> Module:
    """The module of a portable form. Raises: ValueError for damaged bytes, or another signature."""
    module = parsed(data)
    with client.context():
        return _Reader().module(module)


class Port(Protocol):
    """An input or output as it is said to be; a size that is text is known at run time only."""

    @property
    def dtype(self) -> np.dtype: ...
    @property
    def shape(self) -> Sequence[int | str]: ...


def check(data: bytes, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """Raises: ValueError for damaged bytes, or if the function takes or gives something else."""
    module = parsed(data)
    check_operations(module)
    with client.context():
        function = main(module)
        ends = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        for side, said in ((ends.inputs, inputs), (ends.results, outputs)):
            found = list(map(type_of, side))
            wanted = [
                Type(x.dtype, tuple(-1 if isinstance(n, str) else n for n in x.shape)) for x in said
            ]
            if found != wanted:
                text = ", ".join(f"{t.dtype.name}{list(t.shape)}" for t in found)
                raise ValueError(f"the program's own types, {text}, are not those of its signature")


class _Reader:
    """Reads a module. place: the user's line of the function of a library that is being read."""

    place = ""

    def __init__(self) -> None:
        self.types: list[Type] = []
        self.numbers: dict[Any, int] = {}

    def module(self, module: Any) -> Module:
        self.functions = {x.attributes["sym_name"].value: x for x in module.body.operations}
        return Module(self.block(self.functions["main"].regions[0].blocks[0]), tuple(self.types))

    def block(self, block: Any) -> Block:
        arguments = tuple(map(self.value, block.arguments))
        operations, results = self.inside(block)
        return Block(arguments, tuple(operations), results)

    def inside(self, block: Any) -> tuple[list[Operation], tuple[int, ...]]:
        """The operations of a block, those of the functions that it calls in their places."""
        *inner, last = (op.operation for op in block.operations)
        found: list[Operation] = []
        for op in inner:
            if op.name != "func.call":
                found.append(self.operation(op))
                continue
            callee = self.functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value]
            called = callee.regions[0].blocks[0]
            given = [self.numbers[x] for x in op.operands]
            self.numbers.update(zip(called.arguments, given, strict=True))
            before, self.place = self.place, self.place or place_of(op)
            operations, results = self.inside(called)
            self.place = before
            found += operations
            self.numbers.update(zip(op.results, results, strict=True))
        return found, tuple(self.numbers[x] for x in last.operands)

    def operation(self, op: Any) -> Operation:
        operands = tuple(self.numbers[x] for x in op.operands)
        regions = tuple(self.block(block) for region in op.regions for block in region.blocks)
        attributes = self.attributes(op)
        results = tuple(map(self.value, op.results))
        return Operation(
            op.name.removeprefix(PREFIX),
            operands,
            results,
            attributes,
            regions,
            self.place or place_of(op),
        )

    def value(self, value: Any) -> int:
        number = self.numbers[value] = len(self.types)
        self.types.append(type_of(value.type))
        return number

    def attributes(self, op: Any) -> dict[str, Any]:
        if op.name == "stablehlo.constant":
            return {"value": constant(op, type_of(op.results[0].type))}
        return {name: attribute(op.attributes[name]) for name in attribute_names(op)}


def type_of(given: Any) -> Type:
    """A tensor's type. Needs the client's context to be current."""
    found = ir.RankedTensorType(given)
    dtype = _dtypes().get(str(found.element_type))
    if dtype is None:
        raise Unsupported(f"{given}: a dtype that NumPy lacks")
    unknown = ir.ShapedType.get_dynamic_size()
    return Type(dtype, tuple(-1 if n == unknown else n for n in found.shape))


@cache
def _dtypes() -> dict[str, np.dtype]:
    return {str(element_type(dtype)): dtype for dtype in STORED}


def constant(op: Any, type: Type) -> np.ndarray:
    """The value of a constant."""
    try:
        found = op.attributes["value"]
        array = np.array(found.get_splat_value().value if found.is_splat else found)
        return np.broadcast_to(array, type.shape).astype(type.dtype)
    except (AttributeError, TypeError, ValueError):  # a dtype that the bindings do not read
        return _computed(op, type)


def _computed(op: Any, type: Type) -> np.ndarray:
    """The value of a constant, as XLA says it."""
    said = f"func.func @main() -> {op.results[0].type} {{ %0 = {op.get_asm().split('=', 1)[1]}"
    made = client.compile(f"{said}\n return %0 : {op.results[0].type} }}")
    made.expect([tensor_type(type.dtype, type.shape)])
    return client.to_host(made([])[0])


def attribute(given: Any) -> Any:
    """An attribute as a Python value."""
    if isinstance(given, ir.DenseI64ArrayAttr | ir.DenseBoolArrayAttr):
        return tuple(given)
    if isinstance(given, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr | ir.StringAttr):
        return given.value
    if isinstance(given, ir.ArrayAttr):
        return tuple(map(attribute, given))
    if isinstance(given, ir.DenseElementsAttr):
        return np.array(given)
    said = str(given)
    if said.startswith("#stablehlo.conv<"):
        return _convolution(given)
    named = _ENUM.fullmatch(said)
    if named:
        return named[1]
    lists = {name: _ints(body) for name, body in _LISTS.findall(said)}
    numbers = {name: int(number) for name, number in _NUMBERS.findall(said)}
    return {**numbers, **lists} if lists or numbers or said.endswith("<>") else said


def _ints(body: str) -> tuple[int, ...]:
    return tuple(map(int, body.split(","))) if body.strip() else ()


def _convolution(given: Any) -> dict[str, Any]:
    """Where a convolution's operands and result have their axes."""
    found = stablehlo.ConvDimensionNumbers(given)
    return {
        "input": (
            found.input_batch_dimension,
            found.input_feature_dimension,
            *found.input_spatial_dimensions,
        ),
        "kernel": (
            found.kernel_output_feature_dimension,
            found.kernel_input_feature_dimension,
            *found.kernel_spatial_dimensions,
        ),
        "output": (
            found.output_batch_dimension,
            found.output_feature_dimension,
            *found.output_spatial_dimensions,
        ),
    }
