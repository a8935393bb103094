"""Settings, read from the environment once; tests and benchmarks assign them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from threading import TIMEOUT_MAX
from typing import Final

FLAGS: Final = dict.fromkeys(("1", "true", "on", "yes"), True) | dict.fromkeys(
    ("0", "false", "off", "no"), False
)


def _given(name: str) -> str:
    """What a variable says. An empty one counts as not set."""
    return os.environ.get(name, "").strip()


def flag(name: str, default: bool) -> bool:
    """What a variable says, as a flag. Raises: ValueError, with the words that are expected."""
    text = _given(name)
    found = FLAGS.get(text.lower()) if text else default
    if found is None:
        raise ValueError(f"{name}: 1, true, on, yes, 0, false, off or no, got {text!r}")
    return found


def _count(name: str, default: int) -> int:
    value = _number(name, default)
    if not value.is_integer():  # neither are nan and infinity
        raise ValueError(f"{name}: a whole number was expected, got {_given(name)!r}")
    return int(value)


def _seconds(name: str, default: float) -> float:
    return min(_number(name, default), TIMEOUT_MAX)  # longer than a timer can wait is never


def _number(name: str, default: float) -> float:
    text = _given(name)
    try:
        value = float(text) if text else float(default)
    except ValueError:
        raise ValueError(f"{name}: a number was expected, got {text!r}") from None
    if not value >= 0:
        raise ValueError(f"{name}: a number of 0 or more was expected, got {text!r}")
    return value


@dataclass
class Settings:
    """What a user may set.

    `tier` (LAZYTENSOR_TIER): `auto` interprets small new programs and compiles the rest, `compile`
    and `interpret` always do the one. `programs` (LAZYTENSOR_PROGRAMS): compiled programs kept in
    memory. `disk` (LAZYTENSOR_DISK=0 turns it off) and `disk_bytes` (LAZYTENSOR_CACHE_BYTES): the
    cache on disk. `slow_compile` (LAZYTENSOR_SLOW_COMPILE): seconds after which a compile is
    announced on standard error. `small` (LAZYTENSOR_SMALL): arrays of fewer elements that are made
    of host data stay the host framework's own, as recording what is done to them takes longer than
    doing it; 0 records torch's small tensors, too. A frontend may have a thread read another value
    (`numpy/bound.py`). `devices` (LAZYTENSOR_DEVICES): over how many devices large arrays are split
    where the program says nothing. `padding` (LAZYTENSOR_PADDING=0 turns it off): a program that
    comes back with other sizes gets one with room for more (see `core/passes/bucketing`). `wait`
    (LAZYTENSOR_WAIT=1): every program is waited for where it is started, so that the seconds of an
    event, and errors of the device, are those of the line that caused it. `log` (LAZYTENSOR_LOG):
    which of `cuts`, `compiles` and `fallbacks`, with commas between, get a line on standard error.
    `eager` (LAZYTENSOR_EAGER=1): each operation runs at once, in the interpreter. `check`
    (LAZYTENSOR_CHECK=nan): the same, and the first operation that makes a NaN of numbers raises.
    `modules` (LAZYTENSOR_MODULES=1): what a torch module records is named by its path, for
    `program.show()`. `malloc` (LAZYTENSOR_MALLOC=0 turns it off): see `device/malloc.py`. These
    five are read when lazytensor is imported, and not again. `peer_timeout`
    (LAZYTENSOR_PEER_TIMEOUT): seconds for which one of several processes waits for another one that
    lives and does not come. A flag is one of 1, true, on, yes, 0, false, off, no; an empty variable
    is as none.
    """

    tier: str = field(default_factory=lambda: _given("LAZYTENSOR_TIER") or "auto")
    programs: int = field(default_factory=lambda: _count("LAZYTENSOR_PROGRAMS", 4096))
    disk: bool = field(default_factory=lambda: flag("LAZYTENSOR_DISK", True))
    disk_bytes: int = field(default_factory=lambda: _count("LAZYTENSOR_CACHE_BYTES", 2 * 1024**3))
    slow_compile: float = field(default_factory=lambda: _seconds("LAZYTENSOR_SLOW_COMPILE", 2.0))
    small: int = field(default_factory=lambda: _count("LAZYTENSOR_SMALL", 16384))
    devices: int = field(default_factory=lambda: _count("LAZYTENSOR_DEVICES", 1))
    wait: bool = field(default_factory=lambda: flag("LAZYTENSOR_WAIT", False))
    padding: bool = field(default_factory=lambda: flag("LAZYTENSOR_PADDING", True))
    log: str = field(default_factory=lambda: _given("LAZYTENSOR_LOG"))
    eager: bool = field(default_factory=lambda: flag("LAZYTENSOR_EAGER", False))
    peer_timeout: float = field(default_factory=lambda: _seconds("LAZYTENSOR_PEER_TIMEOUT", 600.0))
    modules: bool = field(default_factory=lambda: flag("LAZYTENSOR_MODULES", False))
    malloc: bool = field(default_factory=lambda: flag("LAZYTENSOR_MALLOC", True))
    check: str = field(default_factory=lambda: _given("LAZYTENSOR_CHECK"))

    @property
    def logged(self) -> frozenset[str]:
        """The names in `log`."""
        return frozenset(filter(None, map(str.strip, self.log.split(","))))


settings = Settings()
if settings.tier not in ("auto", "compile", "interpret"):
    raise ValueError(f"LAZYTENSOR_TIER: auto, compile or interpret, got {settings.tier!r}")
if settings.check not in ("", "nan"):
    raise ValueError(f"LAZYTENSOR_CHECK: nan, or nothing, got {settings.check!r}")
if not settings.logged <= {"cuts", "compiles", "fallbacks"}:
    raise ValueError(f"LAZYTENSOR_LOG: cuts, compiles, fallbacks, got {settings.log!r}")
