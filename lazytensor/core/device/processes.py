"""Several processes that compute together: what core and backend know of each other there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol


class Cluster(NamedTuple):
    """Processes that compute together.

    address: `host:port` of the coordinator, through which they find each other. size: the number
    of processes. rank: this one's number. devices: how many each process has.
    """

    address: str
    size: int
    rank: int
    devices: int


class Messages(Protocol):
    """Short texts that all processes of a cluster can read, by name."""

    def tell(self, name: str, text: str) -> None:
        """Write a text, in place of an earlier one."""

    def heard(self, name: str, seconds: float) -> str | None:
        """The text, waited for; None if nobody has written it in this time."""

    def told(self, folder: str) -> Mapping[str, str]:
        """The texts whose names begin with `folder/`, by the rest of their names."""


class Watch(Protocol):
    """Asked by a backend while it waits for a run that other processes take part in."""

    def waiting(self, seconds: float) -> None:
        """Raises: ProcessError if the wait, so long by now, is in vain."""

    def failed(self, error: Exception) -> Exception:
        """The error to raise in place of XLA's, for an exchange between processes that failed."""


joined: Final[list[Cluster]] = []
"""The cluster that this process has joined, if it has."""


def cluster() -> Cluster | None:
    """The cluster that this process is one of; None for a process alone."""
    return joined[0] if joined else None
