"""Operands that are indices: the dtypes that torch takes."""

from __future__ import annotations

from typing import Any, Final

import torch

from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.registry import Row

_LONG: Final = (torch.int64,)
_INDICES: Final = (torch.int32, torch.int64)
RULES: Final[dict[str, tuple[int, tuple[torch.dtype, ...]]]] = {
    **dict.fromkeys(("gather", "scatter", "scatter_add", "scatter_reduce"), (2, _INDICES)),
    **dict.fromkeys(("index_select", "index_add"), (2, _INDICES)),
    **dict.fromkeys(("index_copy", "index_fill"), (2, _LONG)),
    "put": (1, _LONG),
    **dict.fromkeys(("embedding", "_embedding_bag", "_embedding_bag_forward_only"), (1, _INDICES)),
}
"""By the names of rows, without their overloads: which argument is an index, and its dtypes."""


def checking(table: dict[str, Row]) -> dict[str, Row]:
    """The table, its rows refusing what cannot be an index."""
    return {name: _checking(name.partition(".")[0], row) for name, row in table.items()}


def _checking(name: str, row: Row) -> Row:
    if name not in RULES:
        return row
    place, dtypes = RULES[name]

    def checked(*args: Any, **kwargs: Any) -> Any:
        index: Any = args[place] if len(args) > place else kwargs.get("index")
        given = isinstance(index, torch.Tensor) and index.numel()  # torch looks at no empty one
        require(not given or index.dtype in dtypes)
        return row(*args, **kwargs)

    return checked
