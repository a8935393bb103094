"""Several processes, one program: `initialize`, and what each process is.

Every process runs the same script. Meshes name the devices of all of them, those of process 0
first. Arrays that are split over such a mesh have a part in each process (see `docs/processes.md`).
"""

from __future__ import annotations

from lazytensor import launched
from lazytensor.core.device.processes import Cluster, cluster
from lazytensor.core.errors import ProcessError

__all__ = ["device_count", "initialize", "rank", "size"]


def initialize(
    address: str | None = None,
    size: int | None = None,
    rank: int | None = None,
    *,
    devices: int | None = None,
    timeout: float = 300.0,
) -> None:
    """Connect with the other processes. It comes before anything is split over a mesh.

    address: `host:port` where all processes meet; the process of rank 0 starts a coordinator there.
    size: how many they are. rank: this one's number. They are given all or none: by default the
    variables of `lazytensor launch`, torchrun or SLURM say it, and without any of these there is
    one process, and nothing is done. devices: how many devices each process shows its CPU as; by
    default LAZYTENSOR_LOCAL_DEVICES says it, and else it is one. timeout: seconds for which the
    others are waited for. If no tier was chosen it becomes `compile`, as clocks must not decide
    what a process runs.

    Raises: ProcessError if the others do not come, or a mesh is in use already; ValueError for
    numbers that do not fit; Unsupported on accelerators.
    """
    if cluster() is not None:
        raise ProcessError("initialize: this process is one of several already; call it once")
    found = _given(address, size, rank)
    if found is None:
        return
    each = launched.devices() if devices is None else devices
    if not 0 <= found.rank < found.size:
        text = f"a rank below {found.size}, the number of processes, was expected"
        raise ValueError(f"initialize: {text}, got {found.rank}")
    if each < 1:
        raise ValueError(f"initialize: one device or more was expected, got {each}")
    from lazytensor.core.runtime import peers

    peers.join(Cluster(*found, each), timeout)


def _given(address: str | None, size: int | None, rank: int | None) -> launched.Place | None:
    if address is None and size is None and rank is None:
        return launched.place()
    if address is None or size is None or rank is None:
        raise ValueError("initialize: address, size and rank were expected together")
    if not address.rpartition(":")[2].isdecimal() or ":" not in address:
        raise ValueError(f"initialize: an address host:port was expected, got {address!r}")
    return launched.Place(address, size, rank)


def rank() -> int:
    """This process's number among those that compute together, from 0."""
    found = cluster()
    return 0 if found is None else found.rank


def size() -> int:
    """How many processes compute together; 1 for a process alone."""
    found = cluster()
    return 1 if found is None else found.size


def device_count() -> int:
    """How many devices the processes have in all, as a mesh over them needs. Alone: 1."""
    found = cluster()
    return 1 if found is None else found.size * found.devices
