"""One module for all sizes of a batch, from modules for three of them.

A function is emitted for three sizes n. The modules have the same operations; where a size, a bound
or a number differs, it is found as `a * n + b`, or as the reciprocal of such a number. The first
module then gets types with unknown sizes, and operations that take their sizes as operands, which
are computed from n at the start. What differs otherwise has no such form, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.builder import attribute_names
from lazytensor.backends.xla.builder import operations as operations_of
from lazytensor.backends.xla.portable import operations
from lazytensor.backends.xla.portable.modules import main, place_of, retype, tidy
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.sizes import Affine, fitted

Ops = Sequence[Any]
"""The same operation of each module."""
VECTOR_BOUND: Final = 64
"""Elements of a constant that differs with the size."""


def unified(modules: Sequence[ir.Module], sizes: Sequence[int]) -> ir.Module:
    """The module for all sizes: the first of `modules`, which is changed.

    Raises: Unsupported where the modules differ in more than sizes.
    """
    with client.context(), ir.Location.unknown():
        pairs = list(zip(*map(operations_of, modules), strict=False))
        lengths = {sum(1 for _ in operations_of(module)) for module in modules}
        for ops in pairs:
            if len({op.name for op in ops}) > 1:
                raise _refused(ops[0], "is there for some sizes only")
        if len(lengths) > 1:
            raise Unsupported("export: the program has more operations for some sizes than others")
        for ops, *operands in zip(pairs, *map(_wiring, modules), strict=True):
            if operands.count(operands[0]) < len(operands):
                raise _refused(ops[0], "has other operands for each size")
        unifier = _Unifier([main(module) for module in modules], sizes)
        for ops in pairs:
            unifier.unify(ops)
        retype(unifier.functions[0])
        # By this name TensorFlow, too, knows that the sizes are found before it compiles.
        modules[0].operation.attributes["jax.uses_shape_polymorphism"] = ir.BoolAttr.get(True)
        if not modules[0].operation.verify():
            raise Unsupported("export: the program for all sizes is not valid StableHLO")
    tidy(modules[0])
    return modules[0]


def _wiring(module: ir.Module) -> Iterator[tuple[int, ...]]:
    """Per operation the numbers of its operands: of arguments and results, in their order."""
    numbers: dict[Any, int] = {}
    for op in operations_of(module):
        yield tuple(numbers[x] for x in op.operands)
        arguments = [x for region in op.regions for block in region.blocks for x in block.arguments]
        for value in (*op.results, *arguments):
            numbers[value] = len(numbers)


class _Unifier:
    """The sizes of one function, and what computes them at its start."""

    def __init__(self, functions: Ops, sizes: Sequence[int]) -> None:
        self.functions = functions
        self.sizes = sizes
        self.block = functions[0].regions[0].blocks[0]
        self.known: dict[Affine, Any] = {}
        self.i32 = ir.IntegerType.get_signless(32)
        scalar = ir.RankedTensorType.get([], self.i32)
        zero = ir.DenseElementsAttr.get(np.array(0, np.int32), type=scalar)
        with ir.InsertionPoint.at_block_begin(self.block):
            # What is computed early is put before this operation, as all others may go.
            self.start = ir.Operation.create("stablehlo.constant", [scalar], [], {"value": zero})
        blocks = [function.regions[0].blocks[0] for function in functions]
        for arguments in zip(*(block.arguments for block in blocks), strict=True):
            self.retype(arguments)
        self.known[Affine(1, 0)] = self._symbol()

    def _symbol(self) -> Any:
        """The size n: that of the first axis of an input that has it."""
        for argument in self.block.arguments:
            shape = ir.RankedTensorType(argument.type).shape
            for axis, n in enumerate(shape):
                if n == ir.ShapedType.get_dynamic_size():
                    at = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)
                    return self.early("get_dimension_size", [], [argument], dimension=at)
        raise Unsupported("export: no input has the size that is to be known at run time only")

    def early(self, name: str, shape: Sequence[int], operands: Ops, **attributes: Any) -> Any:
        """An operation on int32 at the start of the function."""
        type = ir.RankedTensorType.get(shape, self.i32)
        with ir.InsertionPoint(self.start):
            return ir.Operation.create(f"stablehlo.{name}", [type], operands, attributes).result

    def number(self, value: int) -> Any:
        """A constant."""
        type = ir.RankedTensorType.get([], self.i32)
        known = ir.DenseElementsAttr.get(np.array(value, np.int32), type=type)
        return self.early("constant", [], [], value=known)

    def size(self, of: Affine) -> Any:
        """The value for n, a scalar."""
        found = self.known.get(of)
        if found is None:
            found = self.number(of.offset)
            if of.scale:
                n = self.known[Affine(1, 0)]
                found = self.early("multiply", [], [n, self.number(of.scale)])
                found = self.early("add", [], [found, self.number(of.offset)])
            self.known[of] = found
        return found

    def vector(self, values: Sequence[Affine]) -> Any:
        """Values for n, as one vector."""
        parts = [self.early("reshape", [1], [self.size(of)]) for of in values]
        if not parts:
            empty = ir.RankedTensorType.get([0], self.i32)
            none = ir.DenseElementsAttr.get(np.zeros(0, np.int32), type=empty)
            return self.early("constant", [0], [], value=none)
        axis = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        return self.early("concatenate", [len(parts)], parts, dimension=axis)

    def affine(self, op: Any, values: Sequence[int]) -> Affine:
        """What a size or bound is of n. Raises: Unsupported."""
        found = fitted(values, self.sizes)
        if found is None:
            raise _refused(op, f"has sizes {values} for inputs of {list(self.sizes)}")
        return found

    def affines(self, op: Any, lists: Sequence[Sequence[int]]) -> list[Affine]:
        """The same of each of several."""
        return [self.affine(op, values) for values in zip(*lists, strict=True)]

    def retype(self, values: Ops) -> list[Affine] | None:
        """Give a value a type with unknown sizes, where the modules' differ; what its sizes are."""
        shapes = [list(ir.RankedTensorType(value.type).shape) for value in values]
        if all(shape == shapes[0] for shape in shapes):
            return None
        found = self.affines(values[0].owner, shapes)
        unknown = ir.ShapedType.get_dynamic_size()
        sizes = [unknown if of.scale else of.offset for of in found]
        element = ir.RankedTensorType(values[0].type).element_type
        values[0].set_type(ir.RankedTensorType.get(sizes, element))
        return found

    def unify(self, ops: Ops) -> None:
        """Make the first of the operations one for all sizes."""
        op = ops[0]
        if op.name in ("builtin.module", "func.func"):
            return
        if op.name == "func.call" and any(str(x.type) != str(y.type) for x, y in _results(ops)):
            raise _refused(op, "is a function of a library")
        for region in range(len(op.regions)):
            for block in range(len(op.regions[region].blocks)):
                blocks = [each.regions[region].blocks[block] for each in ops]
                for arguments in zip(*(block.arguments for block in blocks), strict=True):
                    self.retype(arguments)
        if op.name == "stablehlo.constant":
            self._constant(ops)
            return
        before = [str(result.type) for result in op.results]
        sizes = [self.retype(results) for results in zip(*(x.results for x in ops), strict=True)]
        differing = [name for name in attribute_names(op) if not _same(ops, name)]
        rule = RULES.get(op.name.removeprefix("stablehlo."))
        if rule is not None and (differing or (sizes[0] is not None and op.name in SIZED)):
            rule(self, ops, sizes[0])
        elif differing:
            raise _refused(op, f"has another {differing[0]} for each size, from {before}")

    def replace(self, op: Any, name: str, operands: Ops, attributes: Any = None) -> None:
        """Put another operation with the same result in an operation's place."""
        with ir.InsertionPoint(op), op.location:
            type = op.results[0].type
            made = ir.Operation.create(f"stablehlo.{name}", [type], operands, attributes or {})
        op.results[0].replace_all_uses_with(made.result)
        op.erase()

    def _constant(self, ops: Ops) -> None:
        op = ops[0]
        types = [operations.type_of(x.results[0].type) for x in ops]
        values = [operations.constant(x, t) for x, t in zip(ops, types, strict=True)]
        shapes = [t.shape for t in types]
        is_same = all(np.array_equal(x, values[0], equal_nan=_is_float(x)) for x in values)
        if is_same and shapes.count(shapes[0]) == len(shapes):
            return
        if not all(x.size and (x == x.flat[0]).all() for x in values):
            if any(x.size > VECTOR_BOUND for x in values):
                raise _refused(op, "is an array of numbers that differ with the size")
            raise _refused(op, "has numbers that differ with the size")
        sizes = self.retype([x.results[0] for x in ops])
        scalar = self._scalar(op, [x.flat[0] for x in values], types[0].dtype)
        shape = self.vector(sizes if sizes is not None else _static(shapes[0]))
        none = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        self.replace(op, "dynamic_broadcast_in_dim", [scalar, shape], none)

    def _scalar(self, op: Any, numbers: Sequence[Any], dtype: np.dtype) -> Any:
        """A number as a function of n."""
        type = ir.RankedTensorType.get([], ir.RankedTensorType(op.results[0].type).element_type)
        if all(x == numbers[0] for x in numbers):
            with ir.InsertionPoint(self.start):
                known = ir.DenseElementsAttr.get(np.asarray(numbers[0]), type=type)
                return ir.Operation.create(
                    "stablehlo.constant", [type], [], {"value": known}
                ).result
        found, is_inverse = _number(numbers, self.sizes, dtype)
        if found is None:
            raise _refused(op, f"is {[x.item() for x in numbers]} for {list(self.sizes)}")
        with ir.InsertionPoint(self.start):
            made = ir.Operation.create("stablehlo.convert", [type], [self.size(found)]).result
            if not is_inverse:
                return made
            one = ir.DenseElementsAttr.get(np.ones((), dtype), type=type)
            first = ir.Operation.create("stablehlo.constant", [type], [], {"value": one}).result
            return ir.Operation.create("stablehlo.divide", [type], [first, made]).result


def _number(
    numbers: Sequence[Any], sizes: Sequence[int], dtype: np.dtype
) -> tuple[Affine | None, bool]:
    """What numbers are of the sizes, and whether they are the reciprocals of that."""
    whole = [int(x) for x in numbers]
    found = fitted(whole, sizes)
    if found is not None and all(x == w for x, w in zip(numbers, whole, strict=True)):
        return found, False
    if not _is_float(np.asarray(numbers[0])) or not all(numbers):
        return None, False
    whole = [round(1 / float(x)) for x in numbers]
    inverse = [np.asarray(1, dtype) / np.asarray(w, dtype) for w in whole if w]
    fits = len(inverse) == len(whole) and all(map(np.equal, inverse, numbers))
    return (fitted(whole, sizes) if fits else None), True


def _broadcast(u: _Unifier, ops: Ops, sizes: list[Affine] | None) -> None:
    op = ops[0]
    kept = {"broadcast_dimensions": op.attributes["broadcast_dimensions"]}
    u.replace(op, "dynamic_broadcast_in_dim", [op.operands[0], _shape(u, op, sizes)], kept)


def _reshape(u: _Unifier, ops: Ops, sizes: list[Affine] | None) -> None:
    op = ops[0]
    u.replace(op, "dynamic_reshape", [op.operands[0], _shape(u, op, sizes)])


def _iota(u: _Unifier, ops: Ops, sizes: list[Affine] | None) -> None:
    op = ops[0]
    kept = {"iota_dimension": op.attributes["iota_dimension"]}
    u.replace(op, "dynamic_iota", [_shape(u, op, sizes)], kept)


def _slice(u: _Unifier, ops: Ops, _: list[Affine] | None) -> None:
    op = ops[0]
    names = ("start_indices", "limit_indices", "strides")
    bounds = [u.vector(u.affines(op, [list(x.attributes[name]) for x in ops])) for name in names]
    u.replace(op, "real_dynamic_slice", [op.operands[0], *bounds])


def _dynamic_slice(u: _Unifier, ops: Ops, _: list[Affine] | None) -> None:
    """A gather of one slice, which may have unknown sizes."""
    op = ops[0]
    sizes = u.vector(u.affines(op, [list(x.attributes["slice_sizes"]) for x in ops]))
    operand, *starts = op.operands
    element = ir.RankedTensorType(starts[0].type).element_type
    rank = len(starts)
    with ir.InsertionPoint(op), op.location:
        one = ir.RankedTensorType.get([1], element)
        parts = [ir.Operation.create("stablehlo.reshape", [one], [x]).result for x in starts]
        axis = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        joined = ir.Operation.create(
            "stablehlo.concatenate", [ir.RankedTensorType.get([rank], element)], parts,
            {"dimension": axis},
        ).result  # fmt: skip
        axes = ", ".join(map(str, range(rank)))
        numbers = f"#stablehlo.gather<offset_dims = [{axes}], start_index_map = [{axes}]>"
        attributes = {"dimension_numbers": ir.Attribute.parse(numbers)}
    u.replace(op, "dynamic_gather", [operand, joined, sizes], attributes)


def _gather(u: _Unifier, ops: Ops, _: list[Affine] | None) -> None:
    op = ops[0]
    sizes = u.vector(u.affines(op, [list(x.attributes["slice_sizes"]) for x in ops]))
    kept = {"dimension_numbers": op.attributes["dimension_numbers"]}
    u.replace(op, "dynamic_gather", [*op.operands, sizes], kept)


def _pad(u: _Unifier, ops: Ops, _: list[Affine] | None) -> None:
    op = ops[0]
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    sides = [u.vector(u.affines(op, [list(x.attributes[name]) for x in ops])) for name in names]
    u.replace(op, "dynamic_pad", [*op.operands, *sides])


RULES: Final[dict[str, Callable[[_Unifier, Ops, list[Affine] | None], None]]] = {
    "broadcast_in_dim": _broadcast,
    "dynamic_slice": _dynamic_slice,
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "reshape": _reshape,
    "slice": _slice,
}
"""Operations that have another form for unknown sizes."""
SIZED: Final = frozenset(f"stablehlo.{name}" for name in ("broadcast_in_dim", "iota", "reshape"))
"""Those of them whose result's type says what they do."""


def _shape(u: _Unifier, op: Any, sizes: list[Affine] | None) -> Any:
    return u.vector(sizes or _static(ir.RankedTensorType(op.results[0].type).shape))


def _static(shape: Sequence[int]) -> list[Affine]:
    return [Affine(0, n) for n in shape]


def _results(ops: Ops) -> Iterator[tuple[Any, Any]]:
    for other in ops[1:]:
        yield from zip(ops[0].results, other.results, strict=True)


def _same(ops: Ops, name: str) -> bool:
    return len({str(op.attributes[name]) for op in ops}) == 1


def _is_float(x: np.ndarray) -> bool:
    return x.dtype.kind in "fc" or x.dtype.name == "bfloat16"


def _refused(op: Any, why: str) -> Unsupported:
    operation = getattr(op, "operation", op)
    place = place_of(operation) if hasattr(operation, "location") else ""
    where = f" (recorded at {place})" if place else ""
    name = getattr(operation, "name", "an input")
    return Unsupported(f"export: {name}{where} {why}: the size cannot be left open")
