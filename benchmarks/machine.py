"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy

from lazytensor.core.device.processors import processors

PACKAGES = ("numpy", "jax", "jaxlib", "lazytensor")


def describe() -> dict[str, str]:
    """Processor, system, versions, and how busy the machine was, as text."""
    described = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": str(processors()),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }
    described |= {package: _version(package) for package in PACKAGES}
    if hasattr(os, "getloadavg"):
        described["load before"] = f"{os.getloadavg()[0]:.2f}"
    return described


def take_memory(nbytes: int) -> None:
    """Write once to `nbytes` of memory, so that a virtual machine has them.

    The first to write to memory that the host has to find waits for it: 0.4 s for 128 MB, which a
    first call would take for its own.
    """
    numpy.ones(nbytes, numpy.uint8)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
