"""Shardy's attributes, and the lowering of a sharding constraint."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlib.mlir import ir

from lazytensor.backends.xla.builder import Value, create
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.core import ops
from lazytensor.core.ir.sharding import Mesh, Sharding
from lazytensor.core.ir.types import TensorType


def declare(meshes: Sequence[Mesh]) -> None:
    """Declare the meshes of a module, at the insertion point."""
    for mesh in meshes:
        axes = ", ".join(f'"{name}"={n}' for name, n in zip(mesh.names, mesh.shape, strict=True))
        attributes = {
            "sym_name": ir.StringAttr.get(_name(mesh)),
            "mesh": ir.Attribute.parse(f"#sdy.mesh<[{axes}]>"),
        }
        create("sdy.mesh", [], [], attributes=attributes)


def attribute(sharding: Sharding) -> ir.Attribute:
    """A sharding, as an attribute of a value whose module declares the mesh."""
    axes = ", ".join("{" + ", ".join(f'"{name}"' for name in s) + "}" for s in sharding.spec)
    return ir.Attribute.parse(f"#sdy.sharding<@{_name(sharding.mesh)}, [{axes}]>")


def whole_along(e: Emitter, x: Value, axes: Sequence[int]) -> Value:
    """`x`, split along none of these axes if their lengths do not split into equal parts.

    XLA's partitioner writes to a wrong place where an operand of a scatter has unequal parts
    (jaxlib 0.10).
    """
    if e.mesh is None or all(x.type.shape[axis] % e.mesh.size == 0 for axis in axes):
        return x
    said = ", ".join("{}" if axis in axes else "{?}" for axis in range(x.type.ndim))
    asked = ir.Attribute.parse(f"#sdy.sharding<@{_name(e.mesh)}, [{said}]>")
    return e.op("sdy.sharding_constraint", x.type, x, sharding=asked)


def _name(mesh: Mesh) -> str:
    """The name of a mesh in a module. All meshes of a module have the same devices."""
    axes = "_".join(f"{name}{n}" for name, n in zip(mesh.names, mesh.shape, strict=True))
    return f"mesh_{axes}"


def _sharding_constraint(e: Emitter, type: TensorType, x: Value, *, sharding: Sharding) -> Value:
    return e.op("sdy.sharding_constraint", type, x, sharding=attribute(sharding))


ROWS: Rows = {ops.sharding_constraint: _sharding_constraint}
