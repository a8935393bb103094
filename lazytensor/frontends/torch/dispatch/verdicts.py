"""Torch's error for a refused call: its CPU kernel is called with the operands' known values, and
with zeros in the place of unknown ones.

Shapes, dtypes and numbers are the call's own, so the kernel raises its own error, in its own words.
A call that succeeds pays nothing for this, except the first one with unusual dtypes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, NoReturn

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from lazytensor.core.errors import DTypeError, LazyTensorError, ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import thread
from lazytensor.core.runtime.guards import Failure
from lazytensor.frontends.torch.tensors.strides import is_repeated
from lazytensor.frontends.torch.tensors.tensor import TORCH, held_by, is_lazy, to_cpu

REFUSALS: Final = (RuntimeError, IndexError, ValueError, TypeError, ArithmeticError)
"""The errors that rows and the core raise for calls that they refuse."""
FLOATS: Final = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_taken: Final[set[Any]] = set()
"""Accepted calls: the overload and the operands' dtypes. With `out=` also the pairs of a result's
dtype and its tensor's, and how these tensors share memory."""
_OF_TYPES: Final = re.compile("type|implemented|supported")
_MISSING: Final = "Could not run"
"""The first words of torch's error for an operation that the CPU lacks."""
_OVERRIDEABLE: Final = "_overrideable"
"""A suffix of operations' names; the CPU's names lack it."""


def refuse(
    op: Any, error: Exception, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None
) -> NoReturn:
    """Raise torch's error for a call that a row has refused by `error`.

    op: torch's overload, or its name.
    """
    own = isinstance(error, (ShapeError, DTypeError))
    if isinstance(error, LazyTensorError) and not own:
        raise error
    said = verdict(overload(op) if isinstance(op, str) else op, args, kwargs or {})
    if said is not None:
        raise said from None
    if not own:
        raise error
    raise RuntimeError(str(error)) from None


def ask(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise torch's error for dtypes that an operation refuses; unusual ones are asked for once."""
    given = (*args, *kwargs.values())
    dtypes = tuple([x.dtype for x in given if isinstance(x, Tensor)])
    if _are_usual(dtypes) or (op, dtypes) in _taken:
        return
    said = verdict(overload(op) if isinstance(op, str) else op, args, kwargs, known=False)
    if said is not None and _OF_TYPES.search(str(said)):
        raise said
    if not thread.recorder.tracing:
        _taken.add((op, dtypes))


def asking(name: str, row: Any) -> Any:
    """The row of an overload, which first asks torch about the dtypes."""

    def asked(*args: Any, **kwargs: Any) -> Any:
        ask(name, args, kwargs)
        return row(*args, **kwargs)

    return asked


@cache
def _are_usual(dtypes: tuple[torch.dtype, ...]) -> bool:
    """Whether the first dtype is a float, and the others are the same or indices."""
    return not dtypes or (dtypes[0] in FLOATS and {*dtypes} <= {dtypes[0], torch.int64})


def verdict(
    op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], known: bool = True
) -> Exception | None:
    """The error that torch's CPU kernel raises; None if it accepts the call.

    Nothing is asked while a body is traced: a refused call is recorded op by op later.
    known: use the operands' known values, not only zeros.
    """
    stand_in = partial(_stand_in, memories={}, known=known)
    if thread.recorder.tracing:
        return None
    state = torch.get_rng_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            op(*tree_map(stand_in, tuple(args)), **tree_map(stand_in, dict(kwargs)))
    except torch.linalg.LinAlgError:
        return None  # the zeros, not the call, are the cause
    except REFUSALS as error:
        return None if str(error).startswith(_MISSING) else error
    finally:
        torch.set_rng_state(state)
    return None


def check_outs(
    name: str,
    made: Sequence[Node],
    outs: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> bool:
    """Raise torch's error for `out=` tensors that the overload `name` refuses.

    Overloads differ: some accept any dtype that a result can be cast to, others only its own; some
    accept memory shared with an operand, or repeated elements. The CPU is asked once per case.
    Result: whether the tensors are known to be accepted; never while a body is traced.
    """
    pairs = zip(made, outs.values(), strict=True)
    dtypes = tuple((TORCH[x.type.dtype], out.dtype) for x, out in pairs)
    shared = _shared(outs.values(), args)
    if not shared and all(own is out for own, out in dtypes):
        return True
    given = tuple(x.dtype for x in tree_leaves(args) if isinstance(x, Tensor))
    key = name, given, dtypes, shared
    if key in _taken:
        return True
    # Tensors without elements are resized without a warning.
    empty = {word: torch.empty(0, dtype=out.dtype) for word, out in outs.items()}
    said = verdict(overload(name), args, {**kwargs, **(outs if shared else empty)})
    if said is not None:
        raise said
    asked = not thread.recorder.tracing
    if asked:
        _taken.add(key)
    return asked


def refuse_shared(op: Any, outs: Sequence[Any], args: Any, kwargs: Mapping[str, Any]) -> None:
    """Raise torch's error for `out=` tensors with shared memory that an overload refuses."""
    if _shared(outs, args) and (said := verdict(op, args, kwargs)) is not None:
        raise said


def _shared(outs: Iterable[Any], args: Sequence[Any]) -> tuple[Any, ...]:
    """The geometries of `out=` tensors with repeated elements, and of operands that share them."""
    found = []
    operands = [(i, x) for i, x in enumerate(tree_leaves(args)) if is_lazy(x)]
    for out in outs:
        if not is_lazy(out):
            continue
        if is_repeated(out):
            found.append((tuple(out.shape), out.stride()))
        held, start = out.untyped_storage().handle, out.storage_offset()
        for i, x in operands:
            if x.untyped_storage().handle is held:
                lies = tuple((tuple(t.shape), t.stride()) for t in (out, x))
                found.append((i, x.storage_offset() - start, *lies))
    return tuple(found)


@cache
def overload(name: str) -> Any:
    """Torch's overload of a name: `add.out`."""
    base, _, overload = name.removesuffix(_OVERRIDEABLE).partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _stand_in(x: Any, memories: dict[int, Any], known: bool) -> Any:
    """The stand-in of an argument: for a tensor, a CPU tensor of the same geometry.

    memories: the stand-ins' memory, by the identity of the storage that it stands for.
    """
    if isinstance(x, torch.device):
        return torch.device("cpu")
    if isinstance(x, torch.Generator):
        return None
    if not isinstance(x, Tensor):
        return x
    held = held_by(x)
    place = id(x if held is None else x.untyped_storage().handle)
    if place not in memories:
        memories[place] = torch.zeros(x.untyped_storage().nbytes(), dtype=torch.uint8)
    memory = memories[place].untyped_storage()
    made = torch.empty(0, dtype=x.dtype).set_(memory, x.storage_offset(), x.shape, x.stride())
    value = x if held is None else held.node.value
    if known and value is not None and not isinstance(value, Failure):
        # A repeated element is written to once.
        once = tuple(slice(None) if step else slice(1) for step in x.stride())
        made[once].copy_((x if held is None else to_cpu(held.node))[once])
    return made
