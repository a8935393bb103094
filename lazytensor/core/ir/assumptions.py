"""What an executable takes for granted of its program's slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np


class Assumptions(NamedTuple):
    """What an executable relies on, by slot instruction.

    `baked`: the values of those that are constants. `leaders`: for each that always equals an
    earlier one, that one.
    """

    baked: Mapping[int, np.ndarray]
    leaders: Mapping[int, int]

    def text(self) -> str:
        """All of it, exactly."""
        constants = ";".join(f"{i}={value.tobytes().hex()}" for i, value in self.baked.items())
        return f"{constants}\n{sorted(self.leaders.items())}"


NOTHING_ASSUMED: Final = Assumptions({}, {})
