"""NumPy references of the ops, which define their meaning: the rows of all modules.

Control flow is in `interpreter.py`, because its references run programs.
"""

from __future__ import annotations

from typing import Final

from lazytensor.core.interpreter.kernels import (
    bits,
    choice,
    contraction,
    elementwise,
    foreign,
    indexing,
    linalg,
    movement,
    random,
    reduction,
    sharding,
    sorting,
    special,
    spectral,
)
from lazytensor.core.interpreter.rows import InPlaceRows, PartRows, Rows

MODULES: Final = (
    *(bits, choice, contraction, elementwise, foreign, indexing, linalg),
    *(movement, random, reduction, sharding, sorting, special, spectral),
)
REFERENCES: Final[Rows] = {op: row for module in MODULES for op, row in module.ROWS.items()}
IN_PLACE: Final[InPlaceRows] = (
    choice.IN_PLACE | elementwise.IN_PLACE | indexing.IN_PLACE | movement.IN_PLACE
)
PARTS: Final[PartRows] = movement.PARTS
