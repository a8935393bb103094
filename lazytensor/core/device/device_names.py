"""Devices by number, from 0: how users name them, and how many there are."""

from __future__ import annotations

import re
from typing import Any, Final

from lazytensor.core.device.backend import device_count, is_apart
from lazytensor.core.device.processes import cluster

NAME: Final = "lazytensor"
"""The name of the first device. The others have a number after it: `lazytensor:1`."""
_named: Final = re.compile(rf"{NAME}(?::(\d+))?")


def name_of(number: int) -> str:
    """`lazytensor:1`."""
    return f"{NAME}:{number}"


def number_of(device: Any) -> int:
    """The number of a device: `lazytensor`, `lazytensor:1`, `jax.devices()[1]`.

    Raises: ValueError for what names no device, and for a device that is not there.
    """
    number = getattr(device, "id", None) if hasattr(device, "platform") else None
    if isinstance(device, str):
        found = _named.fullmatch(device)
        number = int(found[1] or 0) if found else None
    if number is None:
        text = f"{NAME!r}, {name_of(1)!r} or a device of jax's was expected"
        raise ValueError(f"device: {text}, got {device!r}")
    check(number)
    return int(number)


def check(number: int) -> None:
    """Raises: ValueError for the number of a device that is not there."""
    there = count()
    if not 0 <= number < there:
        found = f"there is one device, {NAME}" if there == 1 else f"there are {there} devices"
        hint = "" if is_apart() else " (LAZYTENSOR_LOCAL_DEVICES=8 shows a CPU as eight)"
        raise ValueError(f"{found}, and no {name_of(number)}{hint}")


def count() -> int:
    """How many devices have a number. Those of several processes have none: they are a mesh's."""
    return device_count() if cluster() is None else 1
