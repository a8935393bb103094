"""`lazytensor run`: a user's script, with lazy NumPy instead of NumPy."""

import os
import sys
from pathlib import Path

import click

from lazytensor import distributed, launched
from lazytensor.cli.launch import run_in_processes
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
@click.option(
    "--processes",
    default=1,
    type=click.IntRange(min=1),
    help="In how many processes of this machine, among which the devices are divided.",
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
    processes: int,
    repeat: int,
    plain: bool,
    json_file: Path | None,
) -> ScriptRun | int:
    """Run SCRIPT with lazy NumPy instead of NumPy.

    The script and the user's own modules get lazy NumPy where they import numpy; the standard
    library and installed packages get NumPy.
    """
    if processes > 1:
        if compare or plain or json_file is not None or repeat > 1:
            raise click.UsageError("--processes goes with --devices and -m only")
        return _in_processes(processes, devices, [*["-m"] * module, script, *arguments])
    if devices > 1:
        os.environ["LAZYTENSOR_DEVICES"] = str(devices)  # for processes that the script starts
        settings.devices = devices
        if os.environ.get(launched.ADDRESS):
            distributed.initialize()
    launch = ScriptRun(script, arguments, module, plain, repeat, json_file)
    if not compare:
        return launch
    if plain:
        raise click.UsageError("--compare runs the script both ways: leave out --plain")
    if script == "-" and not module:
        raise click.UsageError("--compare runs the script twice: give a file instead of `-`")
    from lazytensor.cli.compare import compare_runs  # rich takes as long to import as NumPy

    return compare_runs(launch)


def _in_processes(processes: int, devices: int, script: list[str]) -> int:
    if devices % processes:
        text = f"{devices} devices cannot be divided among {processes} processes"
        raise click.UsageError(f"{text}: give a multiple by --devices")
    command = [sys.executable, "-m", "lazytensor", "run", "--devices", str(devices), *script]
    return run_in_processes(command, processes, devices // processes)
