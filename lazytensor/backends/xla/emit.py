"""From a Program to a StableHLO module: one loop over the instructions, one table of lowerings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import element_type, ir_type
from lazytensor.backends.xla.lowerings.sharing import read_shared
from lazytensor.backends.xla.lowerings.storing import store_shared
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.assumptions import Assumptions
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, FLOATS
from lazytensor.core.ir.op import PARAMETER, Op, element, find_op
from lazytensor.core.ir.program import SLOTS, Program
from lazytensor.core.ir.source_location import Place, line_of
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

create = ir.Operation.create
INEXACT: Final = FLOATS | COMPLEX
S8: Final = np.dtype("int8")

Lowering = Callable[..., Any]
LOWERINGS: Final[dict[Op[Any], Lowering]] = {}
"""Per op: `lower(emitter, result_type, *values, **attrs)`, a Value or a tuple of them."""


class Value:
    """An operand while lowering.

    `constant` is its value where that is known (a baked slot); `opaque` says that XLA must not
    know it, since it would reassociate (x + 1e16) - 1e16. `stored` says that it is an input, and so
    in memory as it is; `shared`, that several instructions need it. `update` is what was last
    written into it and where, if it is not kept: (value, starts, strides). `turned` is what it is
    the transpose of, and by which axes. `parts` are its real and its imaginary part, where known.
    """

    __slots__ = (
        "_emitter",
        "_ir",
        "constant",
        "opaque",
        "parts",
        "shared",
        "stored",
        "turned",
        "type",
        "update",
    )

    def __init__(
        self,
        emitter: Emitter,
        type: TensorType,
        ir_value: ir.Value | None,
        constant: np.ndarray | None = None,
    ) -> None:
        self._emitter = emitter
        self._ir = ir_value
        self.type = type
        self.constant = constant
        self.opaque = False
        self.stored = self.shared = False
        self.update: tuple[Value, tuple[int, ...], tuple[int, ...]] | None = None
        self.turned: tuple[Value, tuple[int, ...]] | None = None
        self.parts: tuple[Value, Value] | None = None

    @property
    def ir(self) -> ir.Value:
        """The MLIR value; a constant's is emitted on first use."""
        if self._ir is None:
            assert self.constant is not None
            self._ir = self._emitter.constant_ir(self.constant, opaque=self.opaque)
        return self._ir


class Emitter:
    """Builds the instructions of one module. Methods return Values whose type they are given."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.location: ir.Location | None = None
        self.library: dict[Any, str] = {}

    def op(self, name: str, type: TensorType, *operands: Value, **attributes: Any) -> Value:
        """One instruction with one result, `stablehlo.` if `name` has no dialect."""
        return self.ops(name, (type,), *operands, **attributes)[0]

    def ops(
        self, name: str, types: Sequence[TensorType], *operands: Value, **attributes: Any
    ) -> tuple[Value, ...]:
        """One instruction with several results."""
        full = name if "." in name else f"stablehlo.{name}"
        made = create(
            full,
            [ir_type(t) for t in types],
            [x.ir for x in operands],
            attributes=attributes,
            loc=self.location,
        )
        return tuple(Value(self, t, r) for t, r in zip(types, made.results, strict=True))

    def region_op(
        self,
        name: str,
        types: Sequence[TensorType],
        operands: Sequence[Value],
        bodies: Sequence[tuple[Sequence[TensorType], Callable[..., Sequence[Value]]]],
        **attributes: Any,
    ) -> tuple[Value, ...]:
        """An instruction with regions: per region, its arguments' types and a function of them."""
        made = create(
            f"stablehlo.{name}",
            [ir_type(t) for t in types],
            [x.ir for x in operands],
            attributes=attributes,
            regions=len(bodies),
            loc=self.location,
        )
        for region, (arguments, body) in zip(made.regions, bodies, strict=True):
            block = region.blocks.append(*[ir_type(t) for t in arguments])
            with ir.InsertionPoint(block):
                inside = [
                    Value(self, t, a) for t, a in zip(arguments, block.arguments, strict=True)
                ]
                results = body(*inside)
                create("stablehlo.return", [], [x.ir for x in results], loc=self.location)
        return tuple(Value(self, t, r) for t, r in zip(types, made.results, strict=True))

    def constant(self, array: Any, dtype: np.dtype | None = None) -> Value:
        """A constant."""
        value = np.asarray(array, dtype)
        return Value(self, tensor_type(value.dtype, value.shape), None, value)

    def scalar(self, array: Any, dtype: np.dtype) -> Value:
        """A user's number: a constant that XLA computes with as if it were data."""
        value = self.constant(array, dtype)
        value.opaque = dtype in INEXACT
        return value

    def constant_ir(self, array: np.ndarray, *, opaque: bool = False) -> ir.Value:
        """The instruction of a constant."""
        attribute = ir.DenseElementsAttr.get(
            np.ascontiguousarray(array), type=element_type(array.dtype), shape=array.shape
        )
        made = create(
            "stablehlo.constant",
            [attribute.type],
            [],
            attributes={"value": attribute},
            loc=self.location,
        )
        if opaque:  # gone before code is generated: it costs nothing
            made = create("stablehlo.optimization_barrier", [attribute.type], [made.result])
        return made.result

    def full(self, number: Any, type: TensorType) -> Value:
        """`number` everywhere."""
        return self.expand(self.constant(number, type.dtype), type.shape)

    def reshape(self, x: Value, shape: Shape) -> Value:
        """`x` in another shape of its size."""
        if x.type.shape == shape:
            return x
        return self.op("reshape", x.type.with_shape(shape), x)

    def expand(self, x: Value, shape: Shape) -> Value:
        """`x` broadcast to `shape` by NumPy's rule."""
        offset = len(shape) - x.type.ndim
        return self.place(x, shape, range(offset, len(shape)))

    def place(self, x: Value, shape: Shape, axes: Sequence[int]) -> Value:
        """`x` broadcast to `shape`, its axis `i` becoming axis `axes[i]`."""
        if x.type.shape == shape:
            return x
        dimensions = ir.DenseI64ArrayAttr.get(list(axes))
        return self.op(
            "broadcast_in_dim", x.type.with_shape(shape), x, broadcast_dimensions=dimensions
        )

    def convert(self, x: Value, dtype: np.dtype) -> Value:
        """`x` as another dtype."""
        if x.type.dtype == dtype:
            return x
        if x.type.dtype == BOOL and dtype in INEXACT:
            # XLA selects between a number and 0 where it is multiplied by a flag: NaN would be 0.
            x = self.op("convert", x.type.with_dtype(S8), x)
        return self.op("convert", x.type.with_dtype(dtype), x)


def module_of(
    program: Program,
    assumed: Assumptions,
    donated: Sequence[tuple[int, int]] = (),
    places: Sequence[Place | None] = (),
) -> ir.Module:
    """The module of a program (see `core.backend.Backend.compile`)."""
    with client.context(), ir.Location.unknown():
        module = ir.Module.create()
        inputs = [program.instructions[i][3] for i in program.parameters]
        packed = _packed_types(program, assumed.baked)
        with ir.InsertionPoint(module.body):
            signature = ir.FunctionType.get([ir_type(t) for t in [*inputs, *packed.values()]], [])
            main = func.FuncOp("main", signature, visibility="public")
        _mark_donations(main, len(inputs) + len(packed), donated)
        block = main.add_entry_block()
        emitter = Emitter(module)
        with ir.InsertionPoint(block):
            arguments = [
                Value(emitter, t, a)
                for t, a in zip([*inputs, *packed.values()], block.arguments, strict=True)
            ]
            for argument in arguments:
                argument.stored = True
            buffers = dict(zip(packed, arguments[len(inputs) :], strict=True))
            slots = _slot_values(emitter, program, assumed, buffers)
            results = emit(emitter, program, arguments[: len(inputs)], slots, places)
            func.ReturnOp([x.ir for x in results])
            if client.platform() == "cpu":
                read_shared(block)
                store_shared(module, block)
        ends = ir.FunctionType.get(signature.inputs, [x.ir.type for x in results])
        main.attributes["function_type"] = ir.TypeAttr.get(ends)
    return module


def emit(
    emitter: Emitter,
    program: Program,
    parameters: Sequence[Value],
    slots: Sequence[Value],
    places: Sequence[Place | None] = (),
) -> list[Value]:
    """Emit the instructions of `program` where the insertion point is; its results."""
    values: list[Any] = []
    inputs, scalars = iter(parameters), iter(slots)
    uses = Counter(chain.from_iterable(operands for _, operands, _, _ in program.instructions))
    kept = {i for i in program.outputs if not isinstance(program.instructions[i][3], tuple)}
    for i, (op, operands, attrs, type) in enumerate(program.instructions):
        if op is PARAMETER:
            values.append(next(inputs))
        elif op in SLOTS:
            values.append(next(scalars))
        elif op is element:
            values.append(values[operands[0]][attrs[0]])
        else:
            if places and places[i] is not None:
                emitter.location = _location(places[i])
            values.append(_lower(emitter, op, type, [values[j] for j in operands], attrs))
            if i in kept:
                values[i].update = None
            if isinstance(values[i], Value):
                values[i].shared = uses[i] > 1 or i in kept
    return [values[i] for i in program.results]


def emit_body(emitter: Emitter, body: Program, operands: Sequence[Value]) -> list[Value]:
    """Emit a program whose scalars are its constants: what a composite or a region is made of."""
    constants = [
        emitter.scalar(value, body.instructions[i][3].dtype)
        for i, value in zip(body.slots, body.constants, strict=True)
    ]
    return emit(emitter, body, operands, constants)[: len(body.outputs)]


def _lower(
    emitter: Emitter, op: Op, type: Any, operands: Sequence[Value], attrs: tuple[Any, ...]
) -> Any:
    lowering = lowerings().get(op)
    if lowering is not None:
        axes = _common_turn(type, operands) if Trait.ELEMENTWISE in op.traits else None
        if axes is None:
            return lowering(emitter, type, *operands, **op.attrs_of(attrs))
        transpose = lowerings()[find_op("transpose")]
        back = tuple(axes.index(axis) for axis in range(len(axes)))
        sources = [x.turned[0] if x.turned else _moved(emitter, x, back) for x in operands]
        shape = tuple(type.shape[axis] for axis in back)
        made = lowering(emitter, type.with_shape(shape), *sources, **op.attrs_of(attrs))
        return transpose(emitter, type, made, axes=axes)
    if isinstance(op, Composite):
        body = op.program(tuple(x.type for x in operands), op.attrs_of(attrs))
        results = emit_body(emitter, body, operands)
        return tuple(results) if body.multiple else results[0]
    raise Unsupported(f"{op.name}: no lowering; add a row in lazytensor/backends/xla/")


TRANSPOSED_RATIO: Final = 8
"""An operand this many times smaller than the result is transposed rather than the result."""


def _common_turn(type: TensorType, operands: Sequence[Value]) -> tuple[int, ...] | None:
    """How all operands but small ones are transposed, if alike: the result may be so, too."""
    found = None
    for x in operands:
        if x.turned is None and TRANSPOSED_RATIO * x.type.size <= type.size:
            continue
        if x.turned is None or x.type.shape != type.shape or found not in (None, x.turned[1]):
            return None
        found = x.turned[1]
    return found


def _moved(emitter: Emitter, x: Value, axes: Sequence[int]) -> Value:
    """A small operand as it broadcasts against others whose axes are in this order."""
    if not x.type.ndim:
        return x
    whole = emitter.reshape(x, (1,) * (len(axes) - x.type.ndim) + x.type.shape)
    shape = tuple(whole.type.shape[axis] for axis in axes)
    if all(n == 1 for n in shape) or sum(n > 1 for n in shape) == 1:
        return emitter.reshape(whole, shape)
    transpose = lowerings()[find_op("transpose")]
    made: Value = transpose(emitter, whole.type.with_shape(shape), whole, axes=tuple(axes))
    return made


@cache
def lowerings() -> dict[Op[Any], Lowering]:
    """The table of lowerings, its modules imported on first use."""
    from lazytensor.backends.xla import tables

    tables.load()
    return LOWERINGS


def _packed_types(program: Program, baked: Mapping[int, Any]) -> dict[np.dtype, TensorType]:
    """Per dtype with a slot that is data: the type of the buffer all its slots travel in."""
    lengths: dict[np.dtype, int] = {}
    dynamic: dict[np.dtype, None] = {}
    for index, (dtype, at) in program.slot_places.items():
        lengths[dtype] = at + program.instructions[index][3].size
        if index not in baked:
            dynamic[dtype] = None
    return {dtype: tensor_type(dtype, (n,)) for dtype, n in lengths.items() if dtype in dynamic}


def _slot_values(
    emitter: Emitter,
    program: Program,
    assumed: Assumptions,
    buffers: Mapping[np.dtype, Value],
) -> list[Value]:
    values: dict[int, Value] = {}
    for index, (dtype, at) in program.slot_places.items():
        type = program.instructions[index][3]
        if index in assumed.baked:
            known = np.reshape(assumed.baked[index], type.shape)
            values[index] = emitter.scalar(known, dtype)
            continue
        if index in assumed.leaders:
            values[index] = values[assumed.leaders[index]]
            continue
        cut = emitter.op(
            "slice",
            tensor_type(dtype, (type.size,)),
            buffers[dtype],
            start_indices=ir.DenseI64ArrayAttr.get([at]),
            limit_indices=ir.DenseI64ArrayAttr.get([at + type.size]),
            strides=ir.DenseI64ArrayAttr.get([1]),
        )
        values[index] = emitter.reshape(cut, type.shape)
    return list(values.values())


def _mark_donations(main: Any, inputs: int, donated: Sequence[tuple[int, int]]) -> None:
    if not donated:
        return
    aliases = dict(donated)
    index = ir.IntegerType.get_signless(32)
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [
            ir.DictAttr.get({"tf.aliasing_output": ir.IntegerAttr.get(index, aliases[i])})
            if i in aliases
            else ir.DictAttr.get({})
            for i in range(inputs)
        ]
    )


def _location(place: Place | None) -> ir.Location:
    assert place is not None
    return ir.Location.file(place[0].co_filename, line_of(place), 0)
