"""`lazytensor run`: a user's script, with lazy NumPy instead of NumPy."""

import os
from pathlib import Path

import click

from lazytensor.cli.output import Target
from lazytensor.cli.script_run import ScriptRun
from lazytensor.core.settings import settings


@click.command(
    # All arguments after the script's name are the script's, even if they look like options.
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.option("--compare", is_flag=True, help="Run it with NumPy as well, and print the table.")
@click.option(
    "--devices",
    default=1,
    type=click.IntRange(min=1),
    help="Over how many devices large arrays are split.",
)
@click.option("--repeat", default=1, type=click.IntRange(min=1), help="How many times to run it.")
@click.option("--plain", is_flag=True, help="Run it with NumPy: what --compare compares with.")
@click.option("--json", "json_file", type=Target(), help="Write times and counts to a file.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    script: str,
    arguments: tuple[str, ...],
    module: bool,
    compare: bool,
    devices: int,
    repeat: int,
    plain: bool,
    json_file: Path | None,
) -> ScriptRun | int:
    """Run SCRIPT with lazy NumPy instead of NumPy.

    The script and the user's own modules get lazy NumPy where they import numpy; the standard
    library and installed packages get NumPy.
    """
    if devices > 1:
        os.environ["LAZYTENSOR_DEVICES"] = str(devices)  # for processes that the script starts
        settings.devices = devices
    launch = ScriptRun(script, arguments, module, plain, repeat, json_file)
    if not compare:
        return launch
    if plain:
        raise click.UsageError("--compare runs the script both ways: leave out --plain")
    if script == "-" and not module:
        raise click.UsageError("--compare runs the script twice: give a file instead of `-`")
    from lazytensor.cli.compare import compare_runs  # rich takes as long to import as NumPy

    return compare_runs(launch)
