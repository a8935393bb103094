"""The core's errors as torch would raise them."""

from __future__ import annotations

from typing import Any, NoReturn

from lazytensor.core.errors import DataError
from lazytensor.frontends.torch.tensor import is_lazy


class OutOfRangeError(DataError, RuntimeError):
    """An index that is data is out of range: torch raises the one or the other, by the kernel."""


def raise_as_torch(error: Exception, *operands: Any) -> NoReturn:
    """Raise torch's error for operands that do not broadcast; the core's text for any other."""
    shapes = [tuple(x.shape) for x in operands if is_lazy(x)]
    if len(shapes) == 2:
        ndim = max(map(len, shapes))
        first, second = ((1,) * (ndim - len(s)) + s for s in shapes)
        for axis in reversed(range(ndim)):
            a, b = first[axis], second[axis]
            if a != b and 1 not in (a, b):
                raise RuntimeError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                    f"non-singleton dimension {axis}"
                ) from None
    raise RuntimeError(str(error)) from None
