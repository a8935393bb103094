"""What torch says of a call that is refused: its CPU kernel is called with the values of operands
that are known, and with zeros in the place of others.

Shapes, dtypes and numbers are the call's own, so the kernel raises its own error, in its words.
A call that succeeds costs nothing of this.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NoReturn

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from lazytensor.core.errors import DTypeError, LazyTensorError, ShapeError
from lazytensor.core.failures import Failure
from lazytensor.core.node import Node
from lazytensor.core.recorder import thread
from lazytensor.frontends.torch.errors import raise_as_torch
from lazytensor.frontends.torch.tensor import TORCH, held_by, to_cpu

REFUSALS: Final = (RuntimeError, IndexError, ValueError, TypeError, ArithmeticError)
"""What rows, and the core, raise for calls that they do not take."""
_OVERRIDEABLE: Final = "_overrideable"
"""How names end of what the CPU calls otherwise."""


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
    raise_as_torch(error, *args)


def verdict(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception | None:
    """The error that torch's CPU kernel raises; None where it takes the call.

    Nothing is asked while a body is traced: what is refused there is recorded as it comes.
    """
    if thread.recorder.tracing:
        return None
    state = torch.get_rng_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            op(*tree_map(_stand_in, tuple(args)), **tree_map(_stand_in, dict(kwargs)))
    except torch.linalg.LinAlgError:
        return None  # it is the zeros that cannot be factored
    except REFUSALS as error:
        return error
    finally:
        torch.set_rng_state(state)
    return None


_taken: Final[set[Any]] = set()
"""Overloads, with the dtypes of results and of the `out=` tensors for them that the CPU takes."""


def check_outs(
    name: str,
    made: Sequence[Node],
    outs: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Raise torch's error for `out=` tensors of dtypes that the overload `name` does not take.

    Some take what a result can be cast to, some nothing but its dtype. The CPU is asked once.
    """
    pairs = zip(made, outs.values(), strict=True)
    dtypes = tuple((TORCH[x.type.dtype], out.dtype) for x, out in pairs)
    if all(own is out for own, out in dtypes) or (name, dtypes) in _taken:
        return
    said = verdict(overload(name), args, {**kwargs, **outs})
    if said is not None:
        raise said
    if not thread.recorder.tracing:
        _taken.add((name, dtypes))


@cache
def overload(name: str) -> Any:
    """Torch's overload of a name: `add.out`."""
    base, _, overload = name.removesuffix(_OVERRIDEABLE).partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _stand_in(x: Any) -> Any:
    """What takes the place of an argument: of a tensor, one on the CPU with its strides."""
    if isinstance(x, torch.device):
        return torch.device("cpu")
    if isinstance(x, torch.Generator):
        return None
    if not isinstance(x, Tensor):
        return x
    pairs = zip(x.shape, x.stride(), strict=True)
    reach = 1 + sum((n - 1) * step for n, step in pairs) if x.numel() else 0
    made = torch.zeros(reach, dtype=x.dtype).as_strided(x.shape, x.stride())
    held = held_by(x)
    known = x if held is None else held.node.value
    if known is not None and not isinstance(known, Failure):
        # Of what is shown at several places, one is written to.
        once = tuple(slice(None) if step else slice(1) for step in x.stride())
        made[once].copy_((x if held is None else to_cpu(held.node))[once])
    return made
