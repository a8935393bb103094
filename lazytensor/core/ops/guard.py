"""Guards: flags that must hold when a program runs."""

from __future__ import annotations

from lazytensor.core.ir.op import primitive, traits
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import TensorType


@traits(Trait.SHOWS, Trait.CHECKS)
@primitive
def guard(ok: TensorType, *, error: type[Exception], text: str) -> TensorType:
    """A flag that must be true when the program runs. ok: `pred[]`. Raises: `error(text)`.

    error: an exception to raise, or a warning to give; after a warning the results stay valid.
    """
    return ok


@traits(Trait.SHOWS)
@primitive
def guarded(x: TensorType, ok: TensorType) -> TensorType:
    """`x`, which is valid only if the guard `ok` held. Result: type of `x`."""
    return x
