"""`lazytensor cache`: the compiled programs kept on disk."""

import time
from collections import Counter

import click

from lazytensor.core.runtime import disk_cache


@click.group()
def cache() -> None:
    """Look at, or empty, the cache of compiled programs."""


@cache.command("ls")
def list_entries() -> None:
    """List the programs, the last used first."""
    entries = sorted(disk_cache.entries(), key=lambda entry: entry.used, reverse=True)
    for entry in entries:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        click.echo(f"{used}  {size(entry.size):>9}  {entry.name[:12]:12}  {entry.label}")
    if not entries:
        click.echo(f"no programs in {disk_cache.folder()}")


@cache.command("info")
def show_totals() -> None:
    """Show where the cache is, and how full."""
    sizes = [entry.size for entry in disk_cache.entries()]
    click.echo(f"folder    {disk_cache.folder()}")
    click.echo(f"programs  {len(sizes)}")
    click.echo(f"size      {size(sum(sizes))} of {size(disk_cache.limit())}")


@cache.command("clear")
def remove_all() -> int:
    """Remove every program."""
    removed, left = disk_cache.clear()
    click.echo(f"removed {removed} programs from {disk_cache.folder()}")
    for reason, files in Counter(error.strerror for error in left).items():
        click.echo(f"{files} files cannot be removed: {reason}", err=True)
    return 1 if left else 0


def size(count: float) -> str:
    """Return a number of bytes for people: `12.3 MB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
