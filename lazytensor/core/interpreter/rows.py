"""What the interpreter's tables have per op."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lazytensor.core.ir.op import Op

Reference = Callable[..., Any]
"""`reference(*arrays, **attrs)`: an array or a tuple of them."""
Rows = dict[Op[Any], Reference]
InPlaceRows = dict[Op[Any], Callable[..., Mapping[int, Reference]]]
"""Per op whose result may be an operand that is written to: of its attributes, per operand what
does that, `reference(*arrays, **attrs)`. To do it twice must be the same as once."""
PartRows = dict[Op[Any], Reference]
"""Per op whose second operand replaces a part of the first: `shown(shape, x, *data, **attrs)`, that
part of `x`, of this shape, in its memory."""
