"""Whether an exception would be caught by an `except` around the line, in the same function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from lazytensor.core.ir.except_table import is_caught


def here() -> bool:
    frame = sys._getframe(1)
    return is_caught((frame.f_code, frame.f_lasti))


def alone() -> bool:
    return here()


def called() -> bool:
    try:
        return alone()
    except ValueError:
        return False


def tried() -> bool:
    try:
        return here()
    except ValueError:
        return False


def bare() -> bool:
    try:
        return here()
    except:  # noqa: E722 (it is what is tested)
        return False


def grouped() -> bool:
    found = False
    try:
        found = here()
    except* ValueError:
        pass
    return found


def with_block() -> bool:
    with nullcontext():
        return here()


def with_cleanup(seen: list[int]) -> bool:
    try:
        return here()
    finally:
        seen.append(1)


def with_block_tried() -> bool:
    found = False
    try:
        with nullcontext():
            for _ in range(2):
                found = here()
    except (KeyError, ValueError) as error:
        raise TypeError from error
    return found


def cleanup_tried(seen: list[int]) -> bool:
    try:
        try:
            return here()
        finally:
            seen.append(1)
    except ValueError:
        return False


def in_the_handler() -> bool:
    try:
        raise ValueError
    except ValueError:
        return here()


def after() -> bool:
    try:
        nullcontext()
    except ValueError:
        return False
    return here()


def other() -> bool:
    try:
        nullcontext()
    except ValueError:
        return False
    else:
        return here()


CAUGHT: dict[Callable[..., bool], bool] = {
    alone: False,
    called: False,
    tried: True,
    bare: True,
    grouped: True,
    with_block: False,
    with_cleanup: False,
    with_block_tried: True,
    cleanup_tried: True,
    in_the_handler: False,
    after: False,
    other: False,
}


@pytest.mark.parametrize(
    ("function", "expected"), CAUGHT.items(), ids=lambda x: getattr(x, "__name__", str(x))
)
def test_what_an_except_is_around(function: Callable[..., bool], expected: bool) -> None:
    given: list[list[int]] = [[]] if function.__code__.co_argcount else []
    assert function(*given) is expected
