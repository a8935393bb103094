"""Plans: plain calls of ufuncs that were seen before, ready to be recorded.

A plan's form is the class of the result. It is found by the types of the operands: a `TensorType`,
or a pair of which one may be the class of a number. That look-up is the hot path of recording.
A real array has the plans of a lazy one of its type: it is copied, and becomes a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.memo import Memory, keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, Op, signature_of
from lazytensor.core.ir.recording import Signature, record
from lazytensor.core.ops.elementwise import convert
from lazytensor.core.trace.call_memo import ANY, Paired, limits
from lazytensor.frontends.numpy.arrays.array import Scalar, ndarray
from lazytensor.frontends.numpy.host.profitability import raising
from lazytensor.frontends.numpy.ufuncs.loops import Loop

Plans = Memory
suspended = 0
"""How many threads check for floating-point flags: then nothing is remembered."""
_memos: Final[list[Memory]] = []


def memo() -> Memory:
    """A memory of calls that is emptied while calls are to be checked, and when larger arrays
    come to count as small."""
    made = memory()
    _memos.append(made)
    return made


def forget() -> None:
    """Empty every memo."""
    for known in _memos:
        known.clear()


raising.append(forget)


def remember(
    plans: Plans, inputs: Sequence[Any], operands: Sequence[Any], loop: Loop, made: Node
) -> None:
    """Keep what a plain call has found. `operands` are the inputs as nodes, or Python numbers."""
    if suspended:
        return
    number = next((i for i, x in enumerate(inputs) if issubclass(type(x), _NUMBER_CLASSES)), None)
    types = [x.type if isinstance(x, Node) else type(x) for x in operands]
    plain = loop.results[0] in (BOOL, loop.dtypes[0])
    for x, dtype in zip(operands, loop.dtypes, strict=True):
        plain = plain and (not isinstance(x, Node) or x.type.dtype is dtype)
    op = loop.body if plain else loop
    cls = ndarray if made.type.ndim else Scalar
    found: Any = (None, None, None)
    if number is not None:
        types[number] = type(inputs[number])
        operand, dtype = operands[number], loop.dtypes[number]
        own = isinstance(operand, Node)  # a number with a dtype of its own
        found = (ANY, ANY, operand.type.dtype) if own else limits(type(operand), dtype)
        if found is None:
            return
    signature = None
    alike = number is None and len(set(operands)) == len(operands) and made.operands == operands
    if plain and (alike or (isinstance(op, Op) and made.op is op)):
        signature = signature_of(made)
    elif not plain and made.op is loop.body:  # a function may look at a number's value
        op = _of_casts(operands, made) or op
    key = types[0] if len(types) == 1 else tuple(types)
    keep(plans, key, Paired(signature, found, op, cls))


def _of_casts(operands: Sequence[Any], made: Node) -> Callable[..., Node] | None:
    """What makes a node such as `made`, one op of the operands in the loop's dtypes, of others."""
    casts: list[Signature | None] = []
    for x, used in zip(operands, made.operands, strict=True):
        if used is x or (used.op is SLOT and not isinstance(x, Node)):
            casts.append(None)
        elif used.op is convert:
            casts.append(signature_of(used))
        else:
            return None
    signature = signature_of(made)
    if len(casts) == 1:
        return lambda x: record(signature, (_cast(x, casts[0]),))
    if len(casts) > 2:
        return None
    first, second = casts
    return lambda x, y: record(signature, (_cast(x, first), _cast(y, second)))


def _cast(node: Node, signature: Signature | None) -> Node:
    return node if signature is None else record(signature, (node,))


_NUMBER_CLASSES: Final = (bool, int, float, complex, np.generic)
