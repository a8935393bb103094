"""The types of the interpreter's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lazytensor.core.ir.op import Op

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
