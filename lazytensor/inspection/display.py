"""Rich display in notebooks: HTML of arrays, programs, metrics and texts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any, Final

from lazytensor.core.observe.metrics import COUNTS, SECONDS

ROWS: Final = 12
COLUMNS: Final = 10
"""Of a larger array, so many are shown."""


def of_text(text: str) -> str:
    """Text as it is."""
    return f"<pre style='white-space: pre-wrap'>{html.escape(text)}</pre>"


def of_metrics(values: Mapping[str, float]) -> str:
    """A table: name, value, what it is."""
    rows = [(name, f"{values[name]:,}", text) for name, text in COUNTS.items()]
    for name, text in SECONDS.items():
        rows.append((f"{name} seconds", f"{values[f'{name}_seconds']:.6f}", text))
    return _table(rows)


def of_array(array: Any, shown: Any, dtype: object) -> str:
    """The values of an array of at most two axes in a table, of others as text.

    `shown`: the same on the host. `dtype`: its own.
    """
    shape = " × ".join(map(str, shown.shape)) or "scalar"
    head = f"<div><b>{type(array).__name__}</b> {shape}, {html.escape(str(dtype))}</div>"
    if not 1 <= shown.ndim <= 2 or not shown.size:
        return head + of_text(str(shown))
    grid = shown if shown.ndim == 2 else shown[None]
    rows = [_ends(line, COLUMNS) for line in _ends(grid, ROWS)]
    if len(grid) > ROWS:
        rows.insert(ROWS // 2, ["…"] * len(rows[0]))
    if grid.shape[1] > COLUMNS:
        for row in rows:
            row.insert(COLUMNS // 2, "…")
    return head + _table([[str(value) for value in row] for row in rows])


def _ends(values: Any, most: int) -> list[Any]:
    """All values, or the first and the last of them."""
    if len(values) <= most:
        return list(values)
    return [*values[: most // 2], *values[-(most // 2) :]]


def _table(rows: Iterable[Iterable[str]]) -> str:
    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
