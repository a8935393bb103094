"""`lazytensor build`: compile the hot path for this Python, and torch's kernel for this torch."""

import time
from collections.abc import Callable, Iterator

import click
from rich.console import Console

from lazytensor.building import BuildError, hot_path, torch_kernel

Part = tuple[str, Callable[[], None]]
"""What is compiled, and how."""


def _missing() -> Iterator[Part]:
    """What is not compiled yet."""
    if not hot_path.is_done():
        yield "the hot path", hot_path.build
    target = torch_kernel.path()
    if target is not None and not target.exists():
        yield "torch's kernel", lambda: torch_kernel.build(target)


@click.command()
def build() -> int:
    """Compile the hot path with this machine's C compiler, and torch's kernel if torch is there.

    Without a compiler everything works in Python, more slowly. A second call does nothing.
    """
    missing = list(_missing())
    if not missing:
        click.echo("everything is compiled already")
    failures = [text for what, compile in missing if (text := _failure(what, compile))]
    for text in failures:
        click.echo(f"lazytensor build: {text}", err=True)
    return int(bool(failures))


def _failure(what: str, compile: Callable[[], None]) -> str:
    """Compile a part, and say so; the result is why that failed, or nothing."""
    start = time.monotonic()
    try:
        with Console(stderr=True).status(f"compiling {what}"):
            compile()
    except BuildError as error:
        return str(error)
    click.echo(f"{what} is compiled, in {time.monotonic() - start:.0f} s")
    return ""
