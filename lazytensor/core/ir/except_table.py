"""Whether an exception raised at a place would be caught by an `except` around it.

An error that depends on data is raised late, so an `except` around the line that recorded it would
never see it. Each function's exception table says which handler covers which instructions. A `with`
and a `finally` have a handler as well, which raises again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dis import get_instructions
from functools import lru_cache
from types import CodeType

from lazytensor.core.ir.recording import Place

_NEXT = frozenset(["CHECK_EXC_MATCH", "CHECK_EG_MATCH", "WITH_EXCEPT_START", "RERAISE"])
"""Instructions that tell handlers apart: the handler of an `except` compares."""


@lru_cache(maxsize=4096)
def is_caught(place: Place) -> bool:
    """Whether an `except` of the same function is around this place."""
    code, offset = place
    table = list(_entries(code))
    seen = set()
    while (handler := _handler(table, offset)) is not None and handler not in seen:
        if _catches(code, handler):
            return True
        seen.add(offset := handler)  # the next handler outside gets what this one raises again
    return False


def _handler(table: list[tuple[int, int, int]], offset: int) -> int | None:
    """Offset of the handler for an exception raised at this offset."""
    return next((target for start, end, target in table if start <= offset < end), None)


def _catches(code: CodeType, handler: int) -> bool:
    """Whether the handler is an `except`. A bare one drops the exception at once."""
    steps = [step.opname for step in get_instructions(code) if step.offset >= handler]
    if steps[:2] == ["PUSH_EXC_INFO", "POP_TOP"]:
        return True
    return next((step for step in steps if step in _NEXT), "").startswith("CHECK")


def _entries(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Start, end and handler of each entry, as offsets (format: CPython's InternalDocs).

    An entry is four numbers (start, length, handler, depth), six bits a byte, in instructions.
    """
    numbers: list[int] = []
    number = 0
    for byte in code.co_exceptiontable:
        number = number << 6 | byte & 63
        if byte & 64:
            continue
        numbers.append(number)
        number = 0
    for i in range(0, len(numbers), 4):
        start, length, target = (2 * n for n in numbers[i : i + 3])
        yield start, start + length, target
