"""Values that are split over the devices of a mesh."""

from __future__ import annotations

from typing import Any

from lazytensor.core.ir.sharding import Sharding


class Sharded:
    """A leaf's value: a buffer with a part on each device of a mesh."""

    __slots__ = ("buffer", "sharding")

    def __init__(self, buffer: Any, sharding: Sharding) -> None:
        self.buffer = buffer
        self.sharding = sharding
