"""How a process was launched as one of several: the variables of our launcher and of others."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final, NamedTuple

ADDRESS: Final = "LAZYTENSOR_COORDINATOR"
PROCESSES: Final = "LAZYTENSOR_PROCESSES"
RANK: Final = "LAZYTENSOR_RANK"
LOCAL_DEVICES: Final = "LAZYTENSOR_LOCAL_DEVICES"


class Place(NamedTuple):
    """One of several processes. address: `host:port` where all meet. rank: its number."""

    address: str
    size: int
    rank: int


def place() -> Place | None:
    """This process's place among others: by our launcher, torchrun or SLURM; None if it is alone.

    Raises: ValueError if a launcher's variable is missing or no number.
    """
    for first, read in LAUNCHERS.items():
        if os.environ.get(first):
            return read()
    return None


def devices() -> int:
    """How many devices each process has, by LAZYTENSOR_LOCAL_DEVICES; 1 by default."""
    return _number(LOCAL_DEVICES) if os.environ.get(LOCAL_DEVICES) else 1


def _own() -> Place:
    return Place(_text(ADDRESS), _number(PROCESSES), _number(RANK))


def _torchrun() -> Place:
    # torch's own store listens at MASTER_PORT.
    address = f"{_text('MASTER_ADDR')}:{_number('MASTER_PORT') + 1}"
    return Place(address, _number("WORLD_SIZE"), _number("RANK"))


FIRST_PORT: Final = 61440
"""From here on the ports are those that SLURM's job numbers choose."""


def _slurm() -> Place:
    host = first_host(_text("SLURM_STEP_NODELIST"))
    port = FIRST_PORT + _number("SLURM_JOB_ID") % 4096
    return Place(f"{host}:{port}", _number("SLURM_NTASKS"), _number("SLURM_PROCID"))


LAUNCHERS: Final[dict[str, Callable[[], Place]]] = {
    ADDRESS: _own,
    "TORCHELASTIC_RUN_ID": _torchrun,
    "MASTER_ADDR": _torchrun,
    "SLURM_STEP_NODELIST": _slurm,
}
"""Per launcher: a variable that it alone sets, and what reads the others."""


def first_host(nodes: str) -> str:
    """The first host of a list as SLURM writes it: `n7`, `n7,n9` or `n[07-09,12],m1`."""
    found = re.match(r"([^,\[]+)(?:\[([^],-]+))?", nodes)
    if found is None:
        raise ValueError(f"SLURM_STEP_NODELIST: a list of hosts was expected, got {nodes!r}")
    return found[1] + (found[2] or "")


def _text(name: str) -> str:
    text = os.environ.get(name, "").strip()
    if not text:
        raise ValueError(f"{name} is not set: the launcher sets it for each process")
    return text


def _number(name: str) -> int:
    text = _text(name)
    if not text.isdecimal():
        raise ValueError(f"{name}: a number of 0 or more was expected, got {text!r}")
    return int(text)
