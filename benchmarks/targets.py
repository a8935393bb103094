"""The table of docs/export.md, made of the code: which target has which operation.

`python -m benchmarks.targets` writes it into the page; a test says when it is not current.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lazytensor.artifacts.targets import TARGETS
from lazytensor.artifacts.targets.lacking import STABLEHLO

PAGE: Final = Path(__file__).parents[1] / "docs" / "export.md"
BEGIN, END = "<!-- operations -->\n", "<!-- end of operations -->\n"
COLUMNS: Final = ("stablehlo, jax, savedmodel", "tflite", "onnx, web", "iree")
"""Targets with the same operations together."""


def cells(operation: str) -> Iterator[str]:
    """Per column whether its targets have an operation; the dtypes that they lack it for."""
    for column in COLUMNS:
        lacking = TARGETS[column.split(",")[0]].lacks()
        dtypes = sorted(x.split(":")[1] for x in lacking if x.startswith(f"{operation}:"))
        if operation in lacking:
            yield "–"
        else:
            yield f"not {', '.join(dtypes)}" if dtypes else "yes"


def table() -> str:
    """Operations with the same row are in one line."""
    rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for operation in sorted(STABLEHLO):
        rows[tuple(cells(operation))].append(f"`{operation}`")
    lines = [f"| operations | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    ordered = sorted(rows.items(), key=lambda row: -len(row[1]))
    lines += [f"| {', '.join(names)} | {' | '.join(found)} |" for found, names in ordered]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with the present table."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
