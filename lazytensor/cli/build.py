"""`lazytensor build`: compile the hot path for this Python."""

import time

import click
from rich.console import Console

from lazytensor import building
from lazytensor.core import binaries


@click.command()
def build() -> int:
    """Compile the hot path with this machine's C compiler.

    Without a C compiler everything works in Python, more slowly. A second call does nothing.
    """
    if building.is_done():
        click.echo("the hot path is compiled already")
        return 0
    start = time.monotonic()
    try:
        with Console(stderr=True).status(f"compiling {len(binaries.modules())} modules"):
            building.build()
    except building.BuildError as error:
        click.echo(f"lazytensor build: {error}", err=True)
        return 1
    click.echo(f"the hot path is compiled, in {time.monotonic() - start:.0f} s")
    return 0
