"""Calls that are refused, and data that is checked while the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from torch.linalg import LinAlgError

from lazytensor.core import ops
from lazytensor.core.errors import DataError
from lazytensor.core.ir.node import Node


class OutOfRangeError(DataError, RuntimeError):
    """An index, size or probability in the data is out of range.

    Torch raises an IndexError or a RuntimeError, depending on the kernel.
    """


UNFIT: Final = "lazytensor refuses this call: its arguments do not fit together"


def require(true: bool, text: str = UNFIT) -> None:
    """Refuse the call of a row unless `true`. `verdicts.refuse` raises torch's own error for it;
    `text` is for calls that torch's kernel on the CPU accepts or lacks.
    """
    if not true:
        raise RuntimeError(text)


def sure(made: Node, flags: Node, text: str) -> Node:
    """`made`, valid only if all `flags` are true: checked when the program runs."""
    (found,) = all_sure([made], flags, text, OutOfRangeError)
    return found


def all_sure(
    made: Sequence[Node], flags: Node, text: str, error: type[Exception] = LinAlgError
) -> tuple[Node, ...]:
    """The nodes, valid only if all `flags` are true: checked when the program runs."""
    every = ops.reduce_and(flags, axes=tuple(range(flags.type.ndim)))
    ok = ops.guard(every, error=error, text=text)
    return tuple(ops.guarded(x, ok) for x in made)
