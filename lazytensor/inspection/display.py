"""Rich display in notebooks: HTML of arrays and texts."""

from __future__ import annotations

import html
from typing import Any, Final

from lazytensor.core.observe.metrics import html_table

ROWS: Final = 12
COLUMNS: Final = 10
"""Largest number of rows and columns of an array that are shown."""


def of_text(text: str) -> str:
    """Preformatted text."""
    return f"<pre style='white-space: pre-wrap'>{html.escape(text)}</pre>"


def of_array(array: Any, shown: Any, dtype: object) -> str:
    """The values of an array of at most two axes in a table, of others as text.

    `shown`: its values on the host. `dtype`: its own.
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
    return head + html_table([[str(value) for value in row] for row in rows])


def _ends(values: Any, most: int) -> list[Any]:
    """All values, or the first and last ones if there are more than `most`."""
    if len(values) <= most:
        return list(values)
    return [*values[: most // 2], *values[-(most // 2) :]]
