"""Processes that compute together on CPUs: XLA's coordination service, and gloo's collectives.

The service is a process of its own (`coordinator.py`): where one of the computing processes hosts
it, XLA ends all others at once when that one dies, and none can say why. XLA's own heartbeats are
off for the same reason; the core has heartbeats (`core/runtime/peers.py`). Private names of jaxlib:
`get_distributed_runtime_client`, `make_gloo_tcp_collectives` and the arguments of the CPU's client.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

from jaxlib import _jax
from jaxlib import xla_client as xla

from lazytensor.backends.xla import client, waiting
from lazytensor.backends.xla.forks import watch_forks
from lazytensor.core.device.backend import HOST_PLATFORM
from lazytensor.core.device.processes import Cluster, Messages, Watch
from lazytensor.core.errors import ProcessError, Unsupported

NEVER: Final = 10**7
"""Seconds without a heartbeat after which XLA ends a process: its own heartbeats are off."""
LONGEST_LOOK: Final = 0.25
"""Seconds for which a message is waited for at once: a Ctrl-C is heard between two looks."""
FOLDER: Final = "lazytensor/"


class ThroughCoordinator:
    """Messages through the coordinator's key-value store."""

    def __init__(self, service: Any, address: str) -> None:
        self._service = service
        self._address = address

    def tell(self, name: str, text: str) -> None:
        """See `Messages`. Raises: ProcessError if the coordinator has ended."""
        with self._there():
            self._service.key_value_set(FOLDER + name, text, allow_overwrite=True)

    def heard(self, name: str, seconds: float) -> str | None:
        """See `Messages`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            look = max(1, int(min(left, LONGEST_LOOK) * 1000))
            with suppress(client.ExecutionError):  # not there yet
                return str(self._service.blocking_key_value_get(FOLDER + name, look))
        return None

    def told(self, folder: str) -> Mapping[str, str]:
        """See `Messages`. Raises: ProcessError if the coordinator has ended."""
        start = f"{FOLDER}{folder}/"
        with self._there():
            pairs = self._service.key_value_dir_get(start)
        return {name.removeprefix(start): text for name, text in pairs}

    @contextmanager
    def _there(self) -> Iterator[None]:
        try:
            yield
        except client.ExecutionError as error:
            reason = str(error).partition("\n")[0]
            text = f"the coordinator at {self._address} has ended: {reason}"
            raise ProcessError(text) from None


clients: Final[list[Any]] = []
"""The client with the devices of all processes, if this process is one of several."""


_started: Final[list[subprocess.Popen[str]]] = []
"""The coordinator, if this process has started it."""


def connected(address: str, node: int) -> Any:
    """A client of the coordination service, waited for without an end: XLA ends the process else.

    node: the process's number in the service.
    """
    service = _jax.get_distributed_runtime_client(
        address,
        node,
        init_timeout=NEVER,
        heartbeat_timeout=NEVER,
        shutdown_on_destruction=False,
    )
    service.connect()
    return service


def join(cluster: Cluster, devices: int, seconds: float, watch: Watch) -> Messages:
    """Connect with the other processes, each of which shows its CPU as `devices` devices.

    seconds: how long the others may take to come. Raises: Unsupported on other platforms,
    `ProcessError` if the others do not come, or the coordinator's address is taken.
    """
    if client.platform() != HOST_PLATFORM:
        text = f"several processes on {client.platform()}: only those of CPUs are connected"
        raise Unsupported(f"initialize: {text}; edit lazytensor/backends/xla/processes.py")
    if cluster.rank == 0:
        start_coordinator(cluster.address, cluster.size)
    host = cluster.address.rpartition(":")[0]
    connect = partial(connected, cluster.address, cluster.rank)
    try:
        service = waiting.watched_call(connect, seconds)
    except TimeoutError:
        text = f"{cluster.size} processes were expected at {cluster.address}"
        raise ProcessError(f"initialize: {text} within {seconds:g} s; not all came") from None
    collectives = _jax.make_gloo_tcp_collectives(
        distributed_client=service, hostname=host if is_loopback(host) else None
    )
    made = xla.make_cpu_client(
        distributed_client=service,
        node_id=cluster.rank,
        num_nodes=cluster.size,
        collectives=collectives,
        num_devices=devices,
    )

    def finish() -> list[Any]:
        """Wait for all runs, watched, before a fork."""
        for array in made.live_arrays():
            if not array.is_deleted():
                waiting.wait(array)
        return []

    watch_forks(finish, (made, service))
    clients.append(made)
    waiting.watches.append(watch)
    return ThroughCoordinator(service, cluster.address)


def is_loopback(host: str) -> bool:
    """Whether only processes of this machine find the host."""
    return host == "localhost" or host.startswith("127.")


def start_coordinator(address: str, size: int) -> None:
    """Start the coordinator, and return when it listens. It ends after the last of its processes.

    Raises: ProcessError if it cannot listen there.
    """
    command = [sys.executable, "-m", "lazytensor.backends.xla.coordinator", address, str(size)]
    made = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # it outlives a Ctrl-C, and whoever starts it
    )
    assert made.stdout is not None
    assert made.stderr is not None
    with made.stdout, made.stderr:
        if not made.stdout.readline():
            said = made.stderr.read().strip().splitlines()
            reason = said[-1] if said else f"status {made.wait()}"
            raise ProcessError(f"no coordinator can listen at {address}: {reason}")
    _started.append(made)
