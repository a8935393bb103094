"""`lazytensor doctor`: what a bug report should say of the machine."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

import click

import lazytensor
from lazytensor.cli.cache import size
from lazytensor.core import disk

PACKAGES = ("numpy", "ml_dtypes", "jax", "jaxlib", "torch", "tensorflow", "tensorflow-cpu")
SETTINGS = ("LAZYTENSOR_", "XLA_", "JAX_")
BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


@click.command()
def doctor() -> None:
    """Print versions, bounds and settings."""
    bounds = _bounds()
    rows = [("python", platform.python_version()), ("platform", platform.platform())]
    rows += [("processors", str(os.cpu_count())), ("lazytensor", lazytensor.__version__)]
    rows += [
        (name, _judged(_version(name), bounds.get(name.replace("_", "-"), ""))) for name in PACKAGES
    ]
    rows += [("cache", f"{disk.folder()} ({_state()})")]
    rows += [(name, value) for name, value in os.environ.items() if name.startswith(SETTINGS)]
    for name, value in rows:
        click.echo(f"{name:15} {value}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _bounds() -> dict[str, str]:
    """Return the versions that each requirement of lazytensor allows."""
    try:
        requirements = requires("lazytensor") or []
    except PackageNotFoundError:  # a checkout that was never installed
        return {}
    split = (re.match(r"([\w-]+)([^;]*)", text) for text in requirements)
    return {found[1]: found[2].strip() for found in split if found is not None}


def _judged(found: str, bounds: str) -> str:
    """Return a version with the bounds that it keeps or breaks."""
    if not bounds or not found[:1].isdigit():
        return found
    return f"{found} ({'supported' if within(found, bounds) else 'NOT SUPPORTED'}: {bounds})"


def within(found: str, bounds: str) -> bool:
    """Whether a version keeps bounds such as `<3,>=2.0`."""
    for sign, bound in BOUND.findall(bounds):
        if (_numbers(found) >= _numbers(bound)) is not (sign == ">="):
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", re.sub(r"[a-z+].*", "", text))]
    return (*numbers, 0, 0, 0, 0)[:4]


def _state() -> str:
    folder = disk.folder()
    if not folder.exists():
        return "not made yet"
    if not os.access(folder, os.W_OK):
        return "READ-ONLY"
    sizes = [entry.size for entry in disk.entries()]
    return f"{len(sizes)} programs, {size(sum(sizes))} of {size(disk.limit())}"
