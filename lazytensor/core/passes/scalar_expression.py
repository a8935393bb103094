"""How a scalar of one program is had from the slots of another that computes the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.ir.op import Op
from lazytensor.core.ops.elementwise import add, convert, divide, multiply, negate, subtract


class Slot(NamedTuple):
    """A slot itself."""

    position: int


class Constant(NamedTuple):
    """A number in the body of a composite."""

    value: Any


class Computed(NamedTuple):
    """What an op gives for scalars, in `dtype`; `given` are their dtypes.

    `size`: the ops that `follow` computes for it. An operand that is used twice counts twice.
    """

    op: Op
    operands: tuple[Recipe, ...]
    given: tuple[np.dtype, ...]
    dtype: np.dtype
    size: int


Recipe = Slot | Constant | Computed
RECIPE_OPS_BOUND: Final = 32
"""Ops of the largest recipe. A longer chain of scalars is computed as arrays are."""

EXACT: Final[dict[Op[Any], Callable[..., Any]]] = {
    add: np.add,
    subtract: np.subtract,
    multiply: np.multiply,
    negate: np.negative,
    convert: lambda x: x,
    divide: np.divide,
}
"""Ops that give one result, whoever computes them; XLA flushes quotients that are subnormal."""


def size_of(recipe: Recipe | None) -> int:
    """How many ops `follow` computes for a recipe."""
    return recipe.size if isinstance(recipe, Computed) else 0


def follow(recipe: Recipe, slots: Sequence[Any]) -> Any:
    """The scalar for these values of the slots."""
    if isinstance(recipe, Slot):
        return slots[recipe.position]
    if isinstance(recipe, Constant):
        return recipe.value
    with np.errstate(all="ignore"):
        operands = [
            np.asarray(follow(operand, slots), dtype)
            for operand, dtype in zip(recipe.operands, recipe.given, strict=True)
        ]
        return np.asarray(EXACT[recipe.op](*operands)).astype(recipe.dtype).item()
