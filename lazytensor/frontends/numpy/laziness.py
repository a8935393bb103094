"""First line of a function's docstring: whether the function is lazy."""

from __future__ import annotations

from typing import Final

RECORDS: Final = "Lazy."
OFTEN: Final = (
    "Lazy, unless the arguments make the shape or the dtype of the result depend on data: then it "
    "cuts the graph."
)
CUTS: Final = "Cuts the graph: its result, or the result's size, depends on data."
COMPUTES_ARGUMENTS: Final = (
    "Cuts the graph: NumPy computes it; arrays in its result are lazy again."
)
DRAWS: Final = "Drawn at once by NumPy; the samples are lazy."
FALLS: Final = "Falls back to NumPy, with a warning."
LINES: Final = (RECORDS, OFTEN, CUTS, COMPUTES_ARGUMENTS, DRAWS, FALLS)

_NAMES_BY_LINE: Final = {
    OFTEN: "array histogram matrix_rank poly qr where",
    CUTS: "allclose argwhere array_equal array_equiv bincount flatnonzero nonzero piecewise "
    "real_if_close trim_zeros",
}
_LINE_OF: Final = {name: line for line, names in _NAMES_BY_LINE.items() for name in names.split()}


def line(name: str) -> str:
    """The line for the function `name`."""
    return _LINE_OF.get(name, RECORDS)


def said(line: str, name: str, text: str | None) -> str:
    """NumPy's docstring with `line` in front, or after a signature at its start."""
    if not text:
        return line
    first, _, rest = text.partition("\n")
    if first.startswith(f"{name}("):
        return f"{first}\n\n{line}\n{rest}"
    return f"{line}\n{text}" if text.startswith("\n") else f"{line}\n\n{text}"
