"""Rich display in notebooks."""

from __future__ import annotations

import html


def of_text(text: str) -> str:
    """Text as it is."""
    return f"<pre style='white-space: pre-wrap'>{html.escape(text)}</pre>"
