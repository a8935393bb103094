"""From a program's instructions to StableHLO: one loop over them, one table of lowerings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.builder import Builder, Value
from lazytensor.backends.xla.callbacks import Callback, called, can_be_called
from lazytensor.backends.xla.limits import Refused
from lazytensor.core import ops
from lazytensor.core.device import gil
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, FLOATS
from lazytensor.core.ir.op import PARAMETER, Op, element, find_op
from lazytensor.core.ir.program import SLOTS, Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.sharding import Mesh
from lazytensor.core.ir.source_location import line_of
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

INEXACT: Final = FLOATS | COMPLEX
INSTRUCTION: Final = "instruction_"
"""How the name of an instruction begins in what is compiled for a mesh; its number follows."""

Lowering = Callable[..., Any]
"""`lower(emitter, result_type, *values, **attrs)`, which returns a Value or a tuple of them."""
Rows = dict[Op[Any], Lowering]
"""Lowerings of some ops; `tables.py` has them all."""
HostRules = dict[Op[Any], Callable[..., bool]]
"""`rule(*operand_types, **attrs)`: whether the host runs an op where programs run on a CPU."""


def is_thin(sizes: Shape, shape: Shape) -> bool:
    """Whether a slice covers all of each axis, or one position of it."""
    return all(size in (1, n) for size, n in zip(sizes, shape, strict=True))


class Emitter(Builder):
    """Builds a module by a table of lowerings. Methods return Values of the type passed to them.

    `hosts`: which ops the host runs instead; `callbacks`: those that it was found to run.
    `is_plain`: each op is what any compiler knows, a partitioner included. Else it is in the form
    that is fastest on one CPU, which may have reducers of ours, branches and blocks. `platform`:
    what the module is compiled for. `mesh`: the devices over which the program is split, if it is.
    """

    def __init__(
        self,
        module: ir.Module,
        lowerings: Rows,
        hosts: HostRules | None = None,
        is_plain: bool = False,
        platform: str = "cpu",
    ) -> None:
        super().__init__(module, platform, is_plain)
        self.lowerings = lowerings
        self.hosts = hosts
        self.mesh: Mesh | None = None
        self.callbacks: list[Callback] = []

    def constant(self, array: Any, dtype: np.dtype | None = None) -> Value:
        """A constant."""
        value = np.asarray(array, dtype)
        return Value(self, tensor_type(value.dtype, value.shape), None, value)

    def scalar(self, array: Any, dtype: np.dtype) -> Value:
        """A user's number: a constant that XLA must treat as data."""
        return workarounds.hide_constant(self.constant(array, dtype))

    def full(self, number: Any, type: TensorType) -> Value:
        """A tensor of `type` filled with `number`."""
        return self.expand(self.constant(number, type.dtype), type.shape)

    def reshape(self, x: Value, shape: Shape) -> Value:
        """`x` in another shape of the same size."""
        if x.type.shape == shape:
            return x
        if x.folded is not None and x.folded.type.shape == shape:
            return x.folded
        made = self.op("reshape", x.type.with_shape(shape), x)
        kept = len(shape) - 1
        if self.is_plain and x.type.ndim > kept > 0 and x.type.shape[-kept:] == shape[1:]:
            made.folded = x
        return made

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
            x = workarounds.flag_as_integer(self, x)
        return self.op("convert", x.type.with_dtype(dtype), x)


def emit(
    emitter: Emitter,
    program: Program,
    parameters: Sequence[Value],
    slots: Sequence[Value],
    places: Sequence[Place | None] = (),
) -> list[Value]:
    """Emit the instructions of `program` at the insertion point; its results."""
    values: list[Any] = []
    inputs, scalars = iter(parameters), iter(slots)
    uses = _uses(program)
    starts = dict(zip(program.slots, slots, strict=True))
    kept = {i for i in program.outputs if not isinstance(program.instructions[i][3], tuple)}
    for i, (op, operands, attrs, type) in enumerate(program.instructions):
        gil.rest()
        if op is PARAMETER:
            values.append(next(inputs))
        elif op in SLOTS:
            values.append(next(scalars))
        elif op is element:
            values.append(values[operands[0]][attrs[0]])
        else:
            if program.meshes:  # XLA's collectives say for which instruction they are
                emitter.location = ir.Location.name(f"{INSTRUCTION}{i}")
            elif places and places[i] is not None:
                emitter.location = _location(places[i])
            try:
                values.append(_lower(emitter, op, type, [values[j] for j in operands], attrs))
            except Refused as refused:
                refused.op, refused.place = op.name, places[i] if places else None
                raise
            made = values[i]
            if isinstance(made, Value):
                made.shared = len(uses[i]) > 1 or i in kept
                if not emitter.is_plain:  # XLA could not split the functions that read lines
                    made.bordered = made.bordered or _is_bordered(program, i, uses[i])
                if i in kept or not all(_is_reread(program, made, i, j, starts) for j in uses[i]):
                    made.update = None
    return [values[i] for i in program.results]


def _uses(program: Program) -> list[list[int]]:
    """Per instruction, those that use its result."""
    found: list[list[int]] = [[] for _ in program.instructions]
    for i, (_, operands, _, _) in enumerate(program.instructions):
        for operand in operands:
            found[operand].append(i)
    return found


def _is_bordered(program: Program, at: int, uses: Sequence[int]) -> bool:
    """Whether some uses of an array write a line into it, and others read one."""
    shape, found = program.instructions[at][3].shape, set()
    for use in uses:
        op, operands, attrs, _ = program.instructions[use]
        if operands[0] != at:  # the starts of a slice, or what is written elsewhere
            continue
        if op is ops.slice and is_thin(attrs[0], shape):
            found.add(op)
        elif op is ops.update_slice:
            written: TensorType = program.instructions[operands[1]][3]
            if is_thin(written.shape, shape):
                found.add(op)
    return len(found) > 1


def _is_reread(
    program: Program, written: Value, at: int, use: int, starts: Mapping[int, Value]
) -> bool:
    """Whether a use of an array, written by instruction `at`, needs no more than what was written.

    It takes that very slice, or writes on.
    """
    op, operands, attrs, _ = program.instructions[use]
    if operands[0] != at or op is ops.update_slice:
        return operands[0] == at
    start = starts.get(operands[1]) if op is ops.slice else None
    if written.update is None or start is None or start.constant is None:
        return False
    return written.update[1:] == (tuple(start.constant.tolist()), attrs[1])


def emit_body(emitter: Emitter, body: Program, operands: Sequence[Value]) -> list[Value]:
    """Emit the body of a composite or region: a program whose scalars are its constants."""
    constants = [
        emitter.scalar(value, body.instructions[i][3].dtype)
        for i, value in zip(body.slots, body.constants, strict=True)
    ]
    emitter.depth += 1
    try:
        return emit(emitter, body, operands, constants)[: len(body.outputs)]
    finally:
        emitter.depth -= 1


def _lower(
    emitter: Emitter, op: Op, type: Any, operands: Sequence[Value], attrs: tuple[Any, ...]
) -> Any:
    lowering = emitter.lowerings.get(op)
    if _is_hosts(emitter, op, type, operands, attrs):
        return called(emitter, op.name, type, operands, attrs)
    if lowering is not None:
        axes = _common_turn(type, operands) if Trait.ELEMENTWISE in op.traits else None
        if axes is None:
            return lowering(emitter, type, *operands, **op.attrs_of(attrs))
        transpose = emitter.lowerings[find_op("transpose")]
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
"""Operands this many times smaller than the result are transposed instead of the result."""


def _is_hosts(
    emitter: Emitter, op: Op, type: Any, operands: Sequence[Value], attrs: tuple[Any, ...]
) -> bool:
    """Whether the host runs an op: it is faster, or there is no lowering."""
    if emitter.hosts is None:
        return False
    rule, types = emitter.hosts.get(op), [x.type for x in operands]
    if rule is None:
        is_hosts = op not in emitter.lowerings and not isinstance(op, Composite)
    else:
        is_hosts = rule(*types, **op.attrs_of(attrs))
    return is_hosts and can_be_called(types, type)


def _common_turn(type: TensorType, operands: Sequence[Value]) -> tuple[int, ...] | None:
    """The transposition that all but small operands share; None unless they share one."""
    found = None
    for x in operands:
        if x.turned is None and TRANSPOSED_RATIO * x.type.size <= type.size:
            continue
        if x.turned is None or x.type.shape != type.shape or found not in (None, x.turned[1]):
            return None
        found = x.turned[1]
    return found


def _moved(emitter: Emitter, x: Value, axes: Sequence[int]) -> Value:
    """A small operand with its axes in the order `axes`, as the sources of the others have them."""
    if not x.type.ndim:
        return x
    whole = emitter.reshape(x, (1,) * (len(axes) - x.type.ndim) + x.type.shape)
    shape = tuple(whole.type.shape[axis] for axis in axes)
    if all(n == 1 for n in shape) or sum(n > 1 for n in shape) == 1:
        return emitter.reshape(whole, shape)
    transpose = emitter.lowerings[find_op("transpose")]
    made: Value = transpose(emitter, whole.type.with_shape(shape), whole, axes=tuple(axes))
    return made


def _location(place: Place | None) -> ir.Location:
    assert place is not None
    return ir.Location.file(place[0].co_filename, line_of(place), 0)
