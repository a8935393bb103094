"""Instructions of a StableHLO module, built one by one, and the values that they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla.attributes import element_type, ir_type
from lazytensor.core.ir.types import TensorType

create = ir.Operation.create


def barrier(value: ir.Value) -> ir.Value:
    """`value`, through an instruction that XLA does not look across until it makes loops."""
    made: ir.Value = create("stablehlo.optimization_barrier", [value.type], [value]).result
    return made


class Value:
    """An operand while lowering.

    `constant` is its value where that is known (a baked slot); `opaque` says that XLA must not
    know it, since it would reassociate (x + 1e16) - 1e16. `stored` says that it is an input, and so
    in memory as it is; `shared`, that several instructions need it. `update` is what was last
    written into it and where, if it is not kept: (value, starts, strides). `turned` is what it is
    the transpose of, and by which axes. `parts` are its real and its imaginary part, where known.
    """

    __slots__ = (
        "_builder",
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
        self.stored = self.shared = False
        self.update: tuple[Value, tuple[int, ...], tuple[int, ...]] | None = None
        self.turned: tuple[Value, tuple[int, ...]] | None = None
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
