"""Traits: what a pass or a policy may rely on about an op, said where the op is declared."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Trait(Enum):
    """One fact about an op."""

    ELEMENTWISE = auto()
    """Each element of the result depends on the operands' elements at its place, broadcast."""
    COMMUTES = auto()
    """Its two operands may change places."""
    MOVES = auto()
    """It computes nothing: a record counts for its memory traffic."""
    RESHAPES = auto()
    """It shows all elements of its one operand in another way; its reference copies nothing."""
    SHOWS = auto()
    """Its reference copies nothing."""
    PICKS = auto()
    """Its reference reads no more elements of the first operand than the result has."""
    REPLACES = auto()
    """Its second operand replaces a part of the first."""
    CHECKS = auto()
    """Its result is a flag that must be true, or the program fails."""


SHOWING: Final = frozenset([Trait.RESHAPES, Trait.SHOWS])
"""Traits of ops whose reference copies nothing."""
