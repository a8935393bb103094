"""What of other libraries' modules and classes is changed, so that it can be put back."""

from __future__ import annotations

from typing import Any, Final

_INHERITED: Final = object()
_before: Final[list[tuple[Any, str, Any]]] = []


def put(owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`, until `put_back`."""
    _before.append((owner, name, vars(owner).get(name, _INHERITED)))
    setattr(owner, name, value)


def put_back() -> None:
    """Let everything be what it was."""
    while _before:
        owner, name, value = _before.pop()
        if value is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
