"""The facts of a machine for a bug report: versions, devices, cache, settings."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

import lazytensor
from lazytensor import launched
from lazytensor.building import torch_kernel
from lazytensor.cli.cache import size
from lazytensor.core import binaries
from lazytensor.core.device.processors import processors
from lazytensor.core.runtime import disk_cache
from lazytensor.core.settings import settings

PACKAGES: Final = ("numpy", "ml_dtypes", "jax", "jaxlib", "torch", "tensorflow", "tensorflow-cpu")
NAMES: Final = {
    "tier": "LAZYTENSOR_TIER",
    "programs": "LAZYTENSOR_PROGRAMS",
    "disk": "LAZYTENSOR_DISK",
    "disk_bytes": "LAZYTENSOR_CACHE_BYTES",
    "slow_compile": "LAZYTENSOR_SLOW_COMPILE",
    "small": "LAZYTENSOR_SMALL",
    "padding": "LAZYTENSOR_PADDING",
    "wait": "LAZYTENSOR_WAIT",
    "log": "LAZYTENSOR_LOG",
    "eager": "LAZYTENSOR_EAGER",
    "check": "LAZYTENSOR_CHECK",
    "modules": "LAZYTENSOR_MODULES",
    "malloc": "LAZYTENSOR_MALLOC",
    "devices": "LAZYTENSOR_DEVICES",
    "peer_timeout": "LAZYTENSOR_PEER_TIMEOUT",
}
"""Per setting: its environment variable."""
OTHERS: Final = (
    "LAZYTENSOR_CACHE_DIR",
    "LAZYTENSOR_PLATFORM",
    *(launched.ADDRESS, launched.PROCESSES, launched.RANK, launched.LOCAL_DEVICES),
)
FOREIGN: Final = ("XLA_", "JAX_")
BOUND: Final = re.compile(r"(>=|<)\s*([\d.]+)")


def set_up() -> Iterator[tuple[str, str]]:
    """Names and their values, in words; the last ones import jax."""
    bounds = _bounds()
    yield "python", platform.python_version()
    yield "platform", platform.platform()
    yield "processors", str(processors())
    yield "lazytensor", lazytensor.__version__
    yield "hot path", binaries.mode
    yield "torch's kernel", torch_kernel.fault() or binaries.COMPILED
    for name in PACKAGES:
        yield name, _judged(_version(name), bounds.get(name.replace("_", "-"), ""))
    yield "cache", f"{disk_cache.folder()} ({_state()})"
    yield from _settings()
    yield from _backend()


def _settings() -> Iterator[tuple[str, str]]:
    """Each setting, and where it comes from; then variables that are not settings."""
    for field in fields(settings):
        name = NAMES[field.name]
        said = f"from {name}" if os.environ.get(name, "").strip() else f"default; {name} sets it"
        yield field.name, f"{getattr(settings, field.name)} ({said})"
    for name in OTHERS:
        if os.environ.get(name):
            yield name, os.environ[name]
    known = {*NAMES.values(), *OTHERS}
    for name, value in os.environ.items():
        if name.startswith(FOREIGN):
            yield name, value
        elif name.startswith("LAZYTENSOR_") and name not in known:
            yield name, f"{value} (NOT A SETTING)"


def _backend() -> Iterator[tuple[str, str]]:
    """The devices that programs run on, and the missing private names of jax."""
    try:
        from lazytensor.backends.xla import client, private_names

        yield "devices", f"{client.platform()}: {', '.join(client.device_names())}"
        missing = private_names.missing()
        yield "private names", ", ".join(missing) if missing else "all there"
    except Exception as error:  # noqa: BLE001  a report says whatever is wrong
        yield "backend", f"CANNOT BE USED: {type(error).__name__}: {error}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _bounds() -> dict[str, str]:
    """The versions that each requirement of lazytensor allows."""
    try:
        requirements = requires("lazytensor") or []
    except PackageNotFoundError:  # a checkout that was never installed
        return {}
    split = (re.match(r"([\w-]+)([^;]*)", text) for text in requirements)
    return {found[1]: found[2].strip() for found in split if found is not None}


def _judged(found: str, bounds: str) -> str:
    """A version with its bounds, and whether it is within them."""
    if not bounds or not found[:1].isdigit():
        return found
    return f"{found} ({'supported' if within(found, bounds) else 'NOT SUPPORTED'}: {bounds})"


def within(found: str, bounds: str) -> bool:
    """Whether a version is within bounds such as `<3,>=2.0`."""
    for sign, bound in BOUND.findall(bounds):
        if (_numbers(found) >= _numbers(bound)) is not (sign == ">="):
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", re.sub(r"[a-z+].*", "", text))]
    return (*numbers, 0, 0, 0, 0)[:4]


def _state() -> str:
    folder = disk_cache.folder()
    if not folder.exists():
        return "not made yet"
    if not os.access(folder, os.W_OK):
        return "READ-ONLY"
    sizes = [entry.size for entry in disk_cache.entries()]
    return f"{len(sizes)} programs, {size(sum(sizes))} of {size(disk_cache.limit())}"
