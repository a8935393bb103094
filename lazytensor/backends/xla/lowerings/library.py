"""Lowering by library: inline the StableHLO that a jax function lowers to for a signature.

The function is traced once per signature and kept as bytecode; a module gets one private function
per signature, even if it is called often. Tracing uses 64-bit types independently of the user's jax
configuration, which it does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import client, session
from lazytensor.backends.xla.attributes import ir_type
from lazytensor.backends.xla.builder import Value, bytecode_of
from lazytensor.backends.xla.emitter import Emitter, Lowering
from lazytensor.core.ir.types import TensorType


@dataclass(frozen=True)
class JaxFunction:
    """A function of a module that needs jax: both are imported when it is called first."""

    module: str
    name: str

    def __call__(self, *arrays: Any, **attrs: Any) -> Any:
        """What the function gives."""
        return getattr(import_module(self.module), self.name)(*arrays, **attrs)


Function = Callable[..., Any]
Attributes = tuple[tuple[str, Any], ...]

SIGNATURES_KEPT: Final = 1024


def call(
    e: Emitter,
    function: Function,
    types: Sequence[TensorType],
    operands: Sequence[Value],
    **attrs: Any,
) -> tuple[Value, ...]:
    """`function(*operands, **attrs)` at the insertion point; its results have `types`.

    `function` takes and gives jax arrays and lives as long as the process; `attrs` are hashable.
    """
    e.check(getattr(function, "name", getattr(function, "__name__", "")), types, operands)
    types_in, fixed = tuple(x.type for x in operands), tuple(sorted(attrs.items()))
    key = (function, types_in, fixed, e.platform)
    return merged(e, key, lambda: bytecode(*key), types, operands)


def merged(
    e: Emitter,
    key: Any,
    module: Callable[[], str | bytes],
    types: Sequence[TensorType],
    operands: Sequence[Value],
) -> tuple[Value, ...]:
    """A call of another module's `main`, which is merged into this one once for each `key`."""
    name = e.library.get(key)
    if name is None:
        parsed = ir.Module.parse(module(), client.context())
        name = session.jax().interpreters.mlir.merge_mlir_modules(
            e.module, f"library_{len(e.library)}", parsed
        )
        e.library[key] = name
    made = func.CallOp(
        [ir_type(t) for t in types],
        ir.FlatSymbolRefAttr.get(name),
        [x.ir for x in operands],
        loc=e.location,
    )
    return tuple(Value(e, t, r) for t, r in zip(types, made.results, strict=True))


def inlined(function: Function) -> Lowering:
    """A row: the op is `function`, with the op's attributes as keywords."""

    def lower(e: Emitter, type: Any, *operands: Value, **attrs: Any) -> Any:
        if isinstance(type, tuple):
            return call(e, function, type, operands, **attrs)
        return call(e, function, (type,), operands, **attrs)[0]

    return lower


def _lowered(traced: Any, platform: str) -> Any:
    """What jax lowers a function to. Of a platform that it does not know it gives general forms.

    Where it has none, it gives a TPU's, which call what every XLA has.
    """
    try:
        return traced.lower(lowering_platforms=(platform,))
    except NotImplementedError:
        return traced.lower(lowering_platforms=("tpu",))


@lru_cache(maxsize=SIGNATURES_KEPT)
def bytecode(
    function: Function, types: tuple[TensorType, ...], attrs: Attributes, platform: str
) -> bytes:
    """The module that `function` lowers to for a platform."""
    fixed, jax = dict(attrs), session.jax()

    def library(*arrays: Any) -> Any:
        return function(*arrays, **fixed)

    arguments = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types]
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):  # for this thread only
        traced = jax.jit(library, keep_unused=True).trace(*arguments)
        lowered = _lowered(traced, platform)
    return bytecode_of(lowered.compiler_ir("stablehlo").operation)
