"""How many processors this process may use, which in a container is fewer than there are."""

from __future__ import annotations

import os


def processors() -> int:
    """At least one."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
