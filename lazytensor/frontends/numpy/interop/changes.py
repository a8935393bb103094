"""Changes to other libraries' modules and classes, and how they are undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

Function = Callable[..., Any]
Ask = Callable[[Function, tuple[Any, ...], dict[str, Any]], Any]
"""Calls a function with NumPy's own objects in place of lazy arguments."""
_INHERITED: Final = object()
_before: Final[list[tuple[Any, str, Any]]] = []


def put(owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`, until `put_back`."""
    _before.append((owner, name, vars(owner).get(name, _INHERITED)))
    setattr(owner, name, value)


def asked_again(
    function: Function,
    ask: Ask,
    refusal: type[Exception] | tuple[type[Exception], ...],
    holds_lazy: Callable[[Any], Any],
) -> Function:
    """`function`. If it refuses arguments that hold something lazy, `ask` repeats the call."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except refusal:
            if not holds_lazy((args, kwargs)):
                raise
        return ask(function, args, kwargs)

    return call


def put_back() -> None:
    """Undo all changes, the last one first."""
    while _before:
        owner, name, value = _before.pop()
        if value is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
