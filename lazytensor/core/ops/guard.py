"""Guards: flags that must hold when a program runs."""

from __future__ import annotations

from lazytensor.core.ir.op import primitive
from lazytensor.core.ir.types import TensorType


@primitive
def guard(ok: TensorType, *, error: type[Exception], text: str) -> TensorType:
    """A flag that must be true when the program runs. ok: `pred[]`. Raises: `error(text)`.

    error: a warning spoils nothing, it is given.
    """
    return ok


@primitive
def guarded(x: TensorType, ok: TensorType) -> TensorType:
    """`x`, which means something only if the guard `ok` held. Result: type of `x`."""
    return x
