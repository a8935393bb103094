"""Operands that are indices: what torch raises where their dtype is none of an index."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch

from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.registry import Row

LONG: Final = (torch.int64,)
INDEX_DTYPES: Final = (torch.int32, torch.int64)


class Rule(NamedTuple):
    """Which argument is an index, what dtypes it may have, and the error for others."""

    place: int
    dtypes: tuple[torch.dtype, ...]
    error: type[Exception]
    text: str


_GATHER: Final = Rule(
    2, INDEX_DTYPES, RuntimeError, "gather(): Expected dtype int32/int64 for index"
)
_SCATTER: Final = Rule(
    2, INDEX_DTYPES, RuntimeError, "scatter(): Expected dtype int32/int64 for index"
)
_EMBEDDING: Final = (
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
    "Int; but got torch.{0}Tensor instead (while checking arguments for {1})"
)
_BAG: Final = Rule(1, INDEX_DTYPES, RuntimeError, _EMBEDDING.replace("{1}", "embedding_bag"))
RULES: Final[dict[str, Rule]] = {
    "gather": _GATHER,
    "scatter": _SCATTER,
    "scatter_add": _SCATTER,
    "scatter_reduce": _SCATTER,
    "index_select": Rule(
        2, INDEX_DTYPES, RuntimeError, "index_select(): Expected dtype int32 or int64 for index"
    ),
    "index_add": Rule(
        2,
        INDEX_DTYPES,
        RuntimeError,
        "index_add_(): Expected dtype int32/int64 for index but got: {0}",
    ),
    "index_copy": Rule(
        2, LONG, RuntimeError, "index_copy_(): Expected a long tensor for index, but got {0}"
    ),
    "index_fill": Rule(2, LONG, IndexError, "index_fill_(): Expected dtype int64 for index."),
    "put": Rule(1, LONG, RuntimeError, "put_(): Expected a long tensor for index, but got {0}"),
    "embedding": Rule(1, INDEX_DTYPES, RuntimeError, _EMBEDDING),
    "_embedding_bag": _BAG,
    "_embedding_bag_forward_only": _BAG,
}
"""By the names of rows, without their overloads."""


def checking(table: dict[str, Row]) -> dict[str, Row]:
    """The table, its rows raising torch's errors for what cannot be an index."""
    return {name: _checking(name.partition(".")[0], row) for name, row in table.items()}


def _checking(name: str, row: Row) -> Row:
    rule = RULES.get(name)
    if rule is None:
        return row
    place, dtypes, error, text = rule

    def checked(*args: Any, **kwargs: Any) -> Any:
        index: Any = args[place] if len(args) > place else kwargs.get("index")
        given = isinstance(index, torch.Tensor) and index.numel()  # torch looks at no empty one
        if given and index.dtype not in dtypes:
            raise error(text.format(dtype_name(index.dtype), name))
        return row(*args, **kwargs)

    return checked
