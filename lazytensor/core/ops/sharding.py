"""The op that says how a value is split over devices."""

from __future__ import annotations

from lazytensor.core.ir.op import primitive, traits
from lazytensor.core.ir.sharding import Sharding
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import TensorType


@traits(Trait.SHOWS)
@primitive
def sharding_constraint(x: TensorType, *, sharding: Sharding) -> TensorType:
    """`x`, split over the devices of a mesh as `sharding` says. Result: the type of `x`."""
    return x
