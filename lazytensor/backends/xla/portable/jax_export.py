"""Portable modules as functions of jax, and in jax's own format for them.

jax exports a function with the same signature, and its module is replaced. So the format, and what
calls the function, are jax's. `mlir_module_serialized` is the one name that is not documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.portable.modules import main, parsed, retype, serialized
from lazytensor.backends.xla.portable.operations import Port
from lazytensor.backends.xla.session import jax
from lazytensor.core.ir.sizes import number_of

PLATFORMS: Final = ("cpu", "cuda", "rocm", "tpu")
"""What a file is for; `main` is told first which of these it runs on."""


def exported(
    name: str, data: bytes, inputs: Sequence[Port], outputs: Sequence[Port], every: bool = False
) -> Any:
    """A module as what `jax.export.export` gives.

    inputs, outputs: those of the module. every: for all `PLATFORMS`; else for jax's default one.
    """
    there = jax()
    from jax import export

    scope = export.SymbolicScope()

    def described(port: Port) -> Any:
        shape = export.symbolic_shape(", ".join(map(str, port.shape)), scope=scope)
        return there.ShapeDtypeStruct(shape, port.dtype)

    def same(*arrays: Any) -> Any:
        sizes: dict[Any, Any] = {}
        for port, x in zip(inputs, arrays, strict=True):
            sizes.update(zip(port.shape, x.shape, strict=True))
        named = {key: value for key, value in sizes.items() if isinstance(key, str)}
        return tuple(there.numpy.zeros(_shape(port, named), port.dtype) for port in outputs)

    same.__name__ = name if name.isidentifier() else "main"
    platforms = PLATFORMS if every else (there.default_backend(),)
    with there.enable_x64(True):
        given = list(map(described, inputs))
        form = export.export(there.jit(same, keep_unused=True), platforms=platforms)(*given)
    body = _with_platform(data) if every else data
    return replace(form, mlir_module_serialized=body)


def _shape(port: Port, sizes: dict[str, Any]) -> tuple[Any, ...]:
    """A shape, its sizes as jax's symbols."""
    return tuple(number_of(n, sizes) for n in port.shape)


def _with_platform(data: bytes) -> bytes:
    """The module with a first parameter that says which platform it runs on, and is not read."""
    module = parsed(data)
    with client.context(), ir.Location.unknown():
        function = main(module)
        i32 = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        block = function.regions[0].blocks[0]
        block.add_argument(i32, ir.Location.unknown())
        for at in reversed(range(1, len(block.arguments))):
            block.arguments[at - 1].replace_all_uses_with(block.arguments[at])
            block.arguments[at].set_type(block.arguments[at - 1].type)
        block.arguments[0].set_type(i32)
        retype(function)
    return serialized(module)
