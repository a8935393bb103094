"""The process that hosts XLA's coordination service: `python -m … HOST:PORT PROCESSES`.

It writes a line when it listens. It ends when all processes have finished, or none of them has said
anything for a while. It is a member of the service itself, which has no other way to look at it.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import Final

from jaxlib import _jax

from lazytensor.backends.xla import processes, waiting
from lazytensor.core.runtime.heartbeats import BEATS, FINISHED

STARTING: Final = 600.0
"""Seconds for which the processes may take to come."""
SILENCE: Final = 120.0
"""Seconds after which processes that say nothing are taken for dead."""
LINGERING: Final = 10.0
"""Seconds for which the service stays: XLA ends a process that still runs when it goes."""
LOOKS_APART: Final = 1.0


def _serve(address: str, size: int) -> None:
    host, _, port = address.rpartition(":")
    bound = address if processes.is_loopback(host) else f"[::]:{port}"
    service = _jax.get_distributed_runtime_service(
        bound, size + 1, heartbeat_timeout=processes.NEVER, shutdown_timeout=1
    )
    print("listening", flush=True)
    _let_go_of_output()
    connect = partial(processes.connected, address, size)
    member = waiting.watched_call(connect, STARTING)
    _watch(processes.ThroughCoordinator(member, address), size)
    time.sleep(LINGERING)
    del service
    os._exit(0)  # the member would wait for the others to say goodbye


def _let_go_of_output() -> None:
    """Whoever has started this process need not read what it says."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)


def _watch(messages: processes.ThroughCoordinator, size: int) -> None:
    """Return when all processes have finished, or have been silent for long."""
    last, heard = None, time.monotonic()
    while time.monotonic() - heard < SILENCE:
        time.sleep(LOOKS_APART)
        beats = messages.told(BEATS)
        if beats != last:
            last, heard = beats, time.monotonic()
        if len(messages.told(FINISHED)) == size:
            return


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
