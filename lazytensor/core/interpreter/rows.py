"""The types of the interpreter's tables, and the kernels of the host's libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lazytensor.core.ir.op import Attrs, Op

Reference = Callable[..., Any]
"""`reference(*arrays, **attrs)`, which returns an array or a tuple of them."""
Rows = dict[Op[Any], Reference]
InPlaceRows = dict[Op[Any], Callable[..., Mapping[int, Reference]]]
"""Per op that may write its result to an operand: a function from its attributes to a reference
for each such operand, `reference(*arrays, **attrs)`. Running one twice must equal running it once.
"""
PartRows = dict[Op[Any], Reference]
"""Per op whose second operand replaces a part of the first: `shown(shape, x, *data, **attrs)`, a
view of that part of `x`, of this shape."""
HostKernel = Callable[..., Reference | None]
"""`kernel(types of operands, type of the result, **attrs)`: the function by which a library of the
host runs an op, or None where it has none that is faster than the reference."""
HOST_KERNELS: Final[dict[str, HostKernel]] = {}
"""By an op's name: the kernels of a frontend's own framework, which is loaded anyway."""


def library_function(op: Op, attrs: Attrs, types: Sequence[Any], type: Any) -> Reference | None:
    """The function of a library of the host that is faster than the reference, if one is loaded."""
    kernel = HOST_KERNELS.get(op.name)
    return None if kernel is None else kernel(types, type, **op.attrs_of(attrs))
