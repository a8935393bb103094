"""Attributes that say what an op does: part of a program's identity, too long to be printed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lazytensor.core.ir.program import Program


class Definition:
    """What an op does, compared by its text. Programs print its name."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs in it, whose composites are part of it."""
        return ()

    @cached_property
    def _said(self) -> str:
        from hashlib import sha256  # here, so that `import lazytensor` stays cheap

        return f"{self.name}.{sha256(self.text.encode()).hexdigest()[:16]}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Definition):
            return NotImplemented
        return self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self._said

    __repr__ = __str__
