"""Modules in StableHLO's portable form: from a program, to text, without what only XLA reads.

A portable module has a function `main`, in forms that every compiler knows, without calls of
ours. It is read by a StableHLO of its own version and of later ones, for five years.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager

from lazytensor.backends.xla import client
from lazytensor.backends.xla.builder import PORTABLE, attribute_names, operations
from lazytensor.backends.xla.module import module_of
from lazytensor.backends.xla.portable.loops import trim
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.assumptions import Assumptions
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.runtime import fork

TIDIED: Final = (
    "builtin.module(inline{max-iterations=64},func.func(chlo-legalize-to-stablehlo),"
    "canonicalize,cse,symbol-dce)"
)
"""StableHLO alone, each value once."""
XLAS_OWN: Final = frozenset(
    ["ApproxTopK", "Eigh", "ProductOfElementaryHouseholderReflectors", "Qr"]
)
"""Custom calls that every XLA knows as operations of its own. They call no function."""
_FOLDERS: Final = re.compile(r'"[^"\n]*/([^"/\n]+\.py)":(\d)')
_PLACE: Final = re.compile(r'loc\("([^"]+)":(\d+):0')


class Forked:
    """Whether this process was forked from one that had read programs, which takes threads."""

    is_child = False


forked: Final = Forked()


@fork.in_child.append
def _note_fork() -> None:
    forked.is_child = True


def emitted(program: Program, places: Sequence[Place | None]) -> ir.Module:
    """The module of a program, whose scalars are its constants. places: see `Backend.compile`."""
    baked = {
        i: np.asarray(number, program.instructions[i][3].dtype)
        for i, number in zip(program.slots, program.constants, strict=True)
    }
    made = module_of(
        program, Assumptions(baked, {}), (), places, is_portable=True, platform=PORTABLE
    )
    tidy(made.module)
    trim(made.module)
    check_operations(made.module)
    return made.module


def tidy(module: ir.Module) -> None:
    """Leave StableHLO alone, each value once."""
    with client.context():
        _passes()(module.operation)


def serialized(module: ir.Module) -> bytes:
    """The module in portable form, of the version that was current twelve weeks ago."""
    with client.context():
        # Serialising changes a module; one with an op that it does not know crashes. Folders are
        # left out of the places in it: a program goes to others.
        said = module.operation.get_asm(enable_debug_info=True, binary=False)
        copied = ir.Module.parse(_FOLDERS.sub(r'"\1":\2', said))
        made: bytes = stablehlo.serialize_portable_artifact(copied, version())
        return made


def version() -> str:
    """The version of StableHLO that a portable form is of."""
    requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    return str(stablehlo.get_version_from_compatibility_requirement(requirement))


def parsed(data: bytes) -> ir.Module:
    """The module of a portable form. Raises: ValueError for damaged bytes."""
    with client.context() as context:
        said: list[str] = []

        def told(diagnostic: Any) -> bool:
            said.append(str(diagnostic))
            return True

        handler = context.attach_diagnostic_handler(told)
        try:
            found: ir.Module = stablehlo.deserialize_portable_artifact(context, data)
            main(found)
        except (StopIteration, ValueError, ir.MLIRError):
            why = "; ".join(said) or "it has no function main"
            raise ValueError(f"the bytes are no portable StableHLO: {why}") from None
        finally:
            handler.detach()
        return found


def text(data: bytes) -> str:
    """The module as text."""
    return str(parsed(data))


def main(module: ir.Module) -> Any:
    """The function `main`."""
    return next(op for op in module.body.operations if str(op.name) == '"main"')


def retype(function: ir.Operation) -> None:
    """Let a function's type be that of its arguments and results."""
    block = function.regions[0].blocks[0]
    last = list(block.operations)[-1].operation
    ends = [x.type for x in block.arguments], [x.type for x in last.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*ends))
    for name in ("arg_attrs", "res_attrs"):
        if name in function.attributes:
            del function.attributes[name]


def check_operations(module: ir.Module) -> None:
    """Raises: Unsupported for an operation that is not StableHLO's, and a call of a function."""
    with client.context():
        for op in operations(module):
            _check(op)


def _check(op: Any) -> None:
    if op.name == "stablehlo.custom_call":
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if target in XLAS_OWN:
            for name in attribute_names(op):  # those of jax, which only jax reads
                if "." in name:
                    del op.attributes[name]
            return
        what = f"a call of {target}"
    elif op.name.startswith(("stablehlo.", "func.", "builtin.")):
        return
    else:
        what = op.name
    place = place_of(op)
    where = f" (recorded at {place})" if place else ""
    raise Unsupported(f"{what}{where} has no portable form; see docs/export.md")


def place_of(op: Any) -> str:
    """The user's line that an operation is of: `file.py:12`, or empty."""
    found = _PLACE.search(str(op.location))
    return f"{found[1]}:{found[2]}" if found else ""


@cache
def _passes() -> Any:
    stablehlo.register_stablehlo_passes()
    with client.context():
        return PassManager.parse(TIDIED).run
