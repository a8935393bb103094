"""Reads the command line and runs its command."""

import importlib
import sys
from typing import NoReturn

import click

import lazytensor
from lazytensor.cli.output import lenient
from lazytensor.cli.script_run import ScriptRun

COMMANDS = (
    "run",
    "launch",
    "explain",
    "doctor",
    "demo",
    "cache",
    "reuse",
    "build",
    "tune",
    "export",
)
INTERRUPTED = 130  # a shell's exit status for a program ended by Ctrl-C


class Commands(click.Group):
    """Commands that are imported when needed: a script does not wait for the demo's imports."""

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
    # The user's script starts here and not inside click. click would handle some of the script's
    # exceptions as its own, and a script that uses click would find our context.
    sys.exit(result.start() if isinstance(result, ScriptRun) else result)
