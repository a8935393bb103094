"""Calls that the host framework answers, since nothing lazy does: warned of, counted, recorded.

The protocol is the same for every frontend:

1. The frontend computes what the operands wait for. The cause of that cut is the call's name.
2. The host computes within `with HostCall(...)`, on values.
3. A call that the host has answered is warned of, once a call site, is counted, and is an event
   with its seconds. A call that the host refuses is the user's error, and no fallback.

Calls that ask for values by their nature, as a save does, need no warning: NumPy's frontend counts
them all the same (`warns=False`), torch's and TensorFlow's do not use `HostCall` for them.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe import metrics
from lazytensor.core.observe.events import Fallback, record
from lazytensor.core.observe.warnings import warn_of_fallback


class HostCall:
    """The call `name` of `framework`, while the host computes it; `what` the warning says of it."""

    __slots__ = ("framework", "name", "start", "warns", "what")

    def __init__(self, name: str, framework: str, what: str, warns: bool = True) -> None:
        self.name = name
        self.framework = framework
        self.what = what
        self.warns = warns

    def __enter__(self) -> None:
        self.start = perf_counter()

    def __exit__(self, error: Any, *_: object) -> None:
        if error is not None:
            return
        seconds = perf_counter() - self.start
        if self.warns:
            warn_of_fallback(self.name, self.framework, self.what)
        metrics.count("fallbacks")
        record(Fallback(user_place(), self.name, seconds))
