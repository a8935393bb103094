"""The core's errors in torch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from torch.linalg import LinAlgError

from lazytensor.core import ops
from lazytensor.core.errors import DataError, DTypeError
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.frontends.torch.tensors.tensor import is_lazy


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


_NAMES: Final = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16",
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def dtype_name(dtype: Any) -> str:
    """A dtype's name in torch's errors."""
    name = str(dtype).removeprefix("torch.")
    return _NAMES.get(name, name.capitalize())


def raise_as_torch(error: Exception, *operands: Any) -> NoReturn:
    """Raise torch's error for operands whose shapes or dtypes do not go together; for any other
    error, the core's text."""
    shapes = [tuple(x.shape) for x in operands if is_lazy(x)]
    if isinstance(error, DTypeError):
        first, *others = dict.fromkeys(x.dtype for x in operands if is_lazy(x))
        if len(others) == 1:
            raise RuntimeError(
                f"expected scalar type {dtype_name(first)} but found {dtype_name(others[0])}"
            ) from None
    elif len(shapes) == 2:
        refuse_sizes(*shapes)
    raise RuntimeError(str(error)) from None


def refuse_sizes(x: Shape, y: Shape) -> None:
    """Raise torch's error for shapes that do not broadcast."""
    ndim = max(len(x), len(y))
    first, second = ((1,) * (ndim - len(s)) + s for s in (x, y))
    for axis in reversed(range(ndim)):
        a, b = first[axis], second[axis]
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {axis}"
            ) from None
