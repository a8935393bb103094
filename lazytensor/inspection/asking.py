"""The reason for a cut in words, from the core's cause and the syntax of the line."""

from __future__ import annotations

from typing import Final

from lazytensor.inspection.source import Source

CONVERSIONS: Final = frozenset(
    ("float", "int", "bool", "complex", "item", "tolist", "round", "asarray", "numpy", "cpu")
)
SHOWS: Final = frozenset(
    ("print", "format", "str", "repr", "write", "info", "debug", "warning", "error")
)
CAUSES: Final = {
    "automatic cut": "enough was pending: cut at the head of a loop",
    "sync()": "asked for: `lazytensor.sync()`",
    "optimizer.step()": "`optimizer.step()` ends a step",
    "boolean mask": "a boolean mask: how many elements it selects is data",
    "Where": "a boolean mask: how many elements it selects is data",  # as TensorFlow has it
    "optimizer.apply()": "`optimizer.apply()` ends a step",
    "initial values of variables": "variables were made: their initial values",
    "initial values of parameters": "an optimizer was made: its parameters' initial values",
    "iteration": "a loop over the elements of an array",
    "except": "in a `try`: an `except` could handle what fails",
    "errstate": "`errstate` asks for floating-point errors at once",
}
"""Per cause of the core that is not an observation: its meaning."""


def asked(cause: str, source: Source) -> str:
    """The reason for a cut, in words."""
    if cause != "observation":
        return CAUSES.get(cause, f"`{cause}` needs values")
    if source.tested:
        return "a test of an array: `if`, `while` or `assert`"
    called = source.called
    for name in called:
        if name in SHOWS:
            return f"printed: `{name}`"
    for name in called:
        if name in CONVERSIONS:
            return f"made a Python value: `{name}()`"
    return "a value was asked for"
