"""Instructions of a StableHLO module, built one by one, and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import limits
from lazytensor.backends.xla.attributes import element_type, ir_type
from lazytensor.core.ir.types import TensorType

create = ir.Operation.create
PORTABLE: Final = "portable"
"""The platform of modules that leave: forms of no device."""


def operations(root: Any) -> Iterator[Any]:
    """Every operation in a module or an operation, those of regions after the one that has them."""
    todo = [root.operation]
    while todo:
        op = todo.pop()
        yield op
        inner = [x.operation for region in op.regions for block in region.blocks for x in block]
        todo += reversed(inner)


def attribute_names(op: Any) -> list[str]:
    """The names of an operation's attributes."""
    return [getattr(x, "name", x) for x in op.attributes]  # jaxlib gives names, or named ones


def bytecode_of(operation: Any) -> bytes:
    """MLIR's bytecode."""
    out = BytesIO()
    operation.write_bytecode(out)
    return out.getvalue()


def barrier(value: ir.Value) -> ir.Value:
    """`value`, behind a barrier that XLA does not optimize across until it makes loops."""
    made: ir.Value = create("stablehlo.optimization_barrier", [value.type], [value]).result
    return made


def keep_apart(call: ir.Operation) -> None:
    """Mark a call of a function, which XLA would inline before it makes loops."""
    call.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get(
        {"inlineable": ir.StringAttr.get("false")}
    )


class Value:
    """An operand while lowering.

    `constant`: its value if known (a baked slot). `opaque`: the constant is hidden from XLA, which
    would reassociate (x + 1e16) - 1e16. `stored`: it is an input, and so in memory. `shared`:
    several instructions use it. `update`: the last write into it, (value, starts, strides), if
    nothing else of it is needed. `turned`: (source, axes) if it is a transpose. `folded`: the value
    whose first axes it has as one. `bordered`: some of its lines are written over, and others read,
    as borders are copied. `parts`: its real and imaginary parts, if known.
    """

    __slots__ = (
        "_builder",
        "_ir",
        "bordered",
        "constant",
        "folded",
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
        builder: Builder,
        type: TensorType,
        ir_value: ir.Value | None,
        constant: np.ndarray | None = None,
    ) -> None:
        self._builder = builder
        self._ir = ir_value
        self.type = type
        self.constant = constant
        self.opaque = False
        self.stored = self.shared = self.bordered = False
        self.update: tuple[Value, tuple[int, ...], tuple[int, ...]] | None = None
        self.turned: tuple[Value, tuple[int, ...]] | None = None
        self.folded: Value | None = None
        self.parts: tuple[Value, Value] | None = None

    @property
    def ir(self) -> ir.Value:
        """The MLIR value; a constant's is emitted on first use."""
        if self._ir is None:
            assert self.constant is not None
            self._ir = self._builder.constant_ir(self.constant)
            if self.opaque:
                self._ir = barrier(self._ir)
        return self._ir


class Builder:
    """Builds the instructions of one module. Methods return Values of the types passed to them.

    `depth`: of the composites whose bodies are being emitted.
    """

    def __init__(self, module: ir.Module, platform: str, is_plain: bool) -> None:
        self.module = module
        self.platform = platform
        self.is_plain = is_plain
        self.depth = 0
        self._limits = limits.LIMITS.get(platform)
        self.location: ir.Location | None = None
        self.library: dict[Any, str] = {}

    def check(self, name: str, types: Sequence[TensorType], operands: Sequence[Value]) -> None:
        """Raise Refused if the platform's compiler lacks an operation."""
        if self._limits is not None:
            dtypes = [*(t.dtype for t in types), *(x.type.dtype for x in operands)]
            limits.check(self.platform, self._limits, name, dtypes)

    def op(self, name: str, type: TensorType, *operands: Value, **attributes: Any) -> Value:
        """One instruction with one result; a `name` without a dialect is of `stablehlo`."""
        return self.ops(name, (type,), *operands, **attributes)[0]

    def ops(
        self, name: str, types: Sequence[TensorType], *operands: Value, **attributes: Any
    ) -> tuple[Value, ...]:
        """One instruction with several results."""
        self.check(name, types, operands)
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
        """An instruction with regions; bodies: per region its argument types and a function."""
        self.check(name, types, operands)
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

    def call(
        self, name: str, run: Callable[..., Value], key: Any, type: TensorType, *operands: Value
    ) -> Value:
        """`run(type, *operands)`, as a call of a function that XLA does not inline.

        Calls with one `key`, of operands of the same types, share a function.
        """
        types = [ir_type(x.type) for x in operands]
        whole = (name, key, type, *(x.type for x in operands))
        called = self.library.get(whole)
        if called is None:
            called = self.library[whole] = f"{name}_{len(self.library)}"
            with ir.InsertionPoint(self.module.body):
                signature = ir.FunctionType.get(types, [ir_type(type)])
                function = func.FuncOp(called, signature, visibility="private")
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                arguments = zip(operands, block.arguments, strict=True)
                func.ReturnOp([run(type, *(Value(self, x.type, a) for x, a in arguments)).ir])
        call = func.CallOp([ir_type(type)], called, [x.ir for x in operands]).operation
        keep_apart(call)
        return Value(self, type, call.results[0])

    def constant_ir(self, array: np.ndarray) -> ir.Value:
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
        return made.result
