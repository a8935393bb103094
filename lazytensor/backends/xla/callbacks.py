"""Ops that the host runs within a program: XLA calls back into Python, and copies no operand.

Data flow: the emitter meets an op that the host runs faster, or for which there is no lowering →
`called` emits a call of XLA's buffer callback with the number of a `Callback` → the client compiles
the module with the callbacks' functions → XLA's thread takes the GIL, and the function computes on
XLA's own buffers. Invariants:

- Who starts such a program waits for it. So none is under way when the process ends or forks.
- A function uses no node and takes no lock: the waiting thread may hold one. For the same reason
  that thread lets no garbage be collected meanwhile (`garbage.uncollected`): finalizers take locks.
- XLA calls small programs' functions in the user's thread, where a Ctrl-C may come. The inputs may
  be donated, so that the program must end: the function starts again, and the Ctrl-C is raised
  after the run (`interrupts`).
- A serialised executable begins with its callbacks, as text. The functions are made anew where it
  is loaded.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from jaxlib.mlir import ir

from lazytensor.core.device import interrupts
from lazytensor.core.interpreter.interpreter import function_of
from lazytensor.core.ir.dtypes import NARROW_INTS
from lazytensor.core.ir.op import find_op
from lazytensor.core.ir.types import ResultType, TensorType, tensor_type

if TYPE_CHECKING:
    from lazytensor.backends.xla.builder import Value
    from lazytensor.backends.xla.emitter import Emitter

TARGET: Final = "xla_buffer_python_cpu_callback"
"""XLA's name of the call. Operands and results are the buffers themselves."""
TYPED: Final = 4
"""The version of the calling convention that passes attributes by name."""


class Callback(NamedTuple):
    """An op with these attributes and types, which the host runs."""

    op: str
    attrs: tuple[Any, ...]
    operands: tuple[TensorType, ...]
    type: ResultType


def can_be_called(operands: Sequence[TensorType], type: ResultType) -> bool:
    """Whether NumPy has arrays like XLA's buffers, which have two elements of four bits a byte."""
    types = [*operands, *(type if isinstance(type, tuple) else (type,))]
    return all(t.dtype not in NARROW_INTS for t in types)


def called(
    e: Emitter, op: str, type: ResultType, operands: Sequence[Value], attrs: tuple[Any, ...]
) -> Any:
    """The results of an op that the host runs, called at the insertion point."""
    types = type if isinstance(type, tuple) else (type,)
    e.callbacks.append(Callback(op, attrs, tuple(x.type for x in operands), type))
    number = ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), len(e.callbacks) - 1)
    results = e.ops(
        "custom_call",
        types,
        *operands,
        call_target_name=ir.StringAttr.get(TARGET),
        api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), TYPED),
        backend_config=ir.DictAttr.get({"index": number}),
        has_side_effect=ir.BoolAttr.get(False),
        operand_layouts=_rows([x.type for x in operands]),
        result_layouts=_rows(types),
    )
    return results if isinstance(type, tuple) else results[0]


def _rows(types: Sequence[TensorType]) -> ir.ArrayAttr:
    """The layouts of arrays whose last axis is dense."""
    index = ir.IndexType.get()
    orders = [np.arange(t.ndim - 1, -1, -1, dtype=np.int64) for t in types]
    return ir.ArrayAttr.get([ir.DenseIntElementsAttr.get(o, type=index) for o in orders])


def function(callback: Callback) -> Callable[..., tuple[()]]:
    """What XLA calls, with a context, the operands' buffers and the results' buffers."""
    op, arity = find_op(callback.op), len(callback.operands)
    compute = function_of(op, callback.attrs, callback.operands, callback.type)

    def compute_into(arrays: list[np.ndarray]) -> None:
        with np.errstate(all="ignore"):
            made = compute(*arrays[:arity])
            results = made if isinstance(callback.type, tuple) else (made,)
            for place, result in zip(arrays[arity:], results, strict=True):
                place[...] = result

    def run(_: Any, *buffers: Any) -> tuple[()]:
        while True:
            try:
                compute_into([np.asarray(buffer) for buffer in buffers])
                return ()
            except Exception:
                raise
            except BaseException as interrupt:  # noqa: BLE001
                interrupts.defer(interrupt)

    return run


def text_of(callbacks: Sequence[Callback]) -> bytes:
    """The callbacks as text. Raises: ValueError if an attribute has no literal."""
    for callback in callbacks:
        if not _is_literal(callback.attrs):
            raise ValueError(f"{callback.op}: its attributes have no literals: {callback.attrs}")
    lines = [(c.op, repr(c.attrs), [*map(_said, c.operands)], _said(c.type)) for c in callbacks]
    return json.dumps(lines).encode()


def _is_literal(attrs: tuple[Any, ...]) -> bool:
    try:
        return bool(ast.literal_eval(repr(attrs)) == attrs)
    except (ValueError, SyntaxError):
        return False


def callbacks_in(text: bytes) -> list[Callback]:
    """The callbacks that `text_of` wrote."""
    return [
        Callback(op, ast.literal_eval(attrs), tuple(map(_read, operands)), _read(type))
        for op, attrs, operands, type in json.loads(text)
    ]


def _said(type: Any) -> Any:
    """A type as a dtype's name and a shape; of several results, a list of these."""
    if isinstance(type, tuple):
        return [_said(part) for part in type]
    return {"dtype": type.dtype.name, "shape": type.shape}


def _read(said: Any) -> Any:
    if isinstance(said, list):
        return tuple(_read(part) for part in said)
    return tensor_type(np.dtype(said["dtype"]), tuple(said["shape"]))
