"""Reads the command line and starts what it asks for."""

import importlib
import sys
from typing import NoReturn

import click

import lazytensor
from lazytensor.cli.launch import Launch
from lazytensor.cli.output import lenient

COMMANDS = ("run", "explain", "doctor", "demo", "cache", "reuse")
INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C


class Commands(click.Group):
    """Commands that are imported when asked for: a script should not wait for the demo's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"lazytensor.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(lazytensor.__version__)
def commands() -> None:
    """Run NumPy programs lazily, compiled by XLA."""


def main() -> NoReturn:
    """Do what `sys.argv` says, and exit."""
    try:
        with lenient(sys.stdout):
            result = commands.main(prog_name="lazytensor", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(INTERRUPTED)
    # The user's script starts here and not inside click, which would handle some of what a script
    # raises as its own, and would be found by a script that uses click itself.
    sys.exit(result.start() if isinstance(result, Launch) else result)
