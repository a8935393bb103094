"""`lazytensor doctor`: the cost of a script's lines; without a script, how lazytensor is set up."""

import json
from functools import partial
from pathlib import Path

import click

from lazytensor.cli.output import Target, write
from lazytensor.cli.script_run import ScriptRun


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.option("--json", "json_file", type=Target(), help="Write what is seen to a file.")
@click.argument("script", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def doctor(
    script: str | None, arguments: tuple[str, ...], module: bool, json_file: Path | None
) -> ScriptRun | int:
    """Run SCRIPT as `lazytensor run` does, and say what its lines cost and what to write instead.

    Without a script: print versions, devices and settings.
    """
    if script is not None:
        from lazytensor.cli.examination import examined

        return ScriptRun(script, arguments, module, False, 1, None, partial(examined, json_file))
    from lazytensor.cli.setup import set_up

    said = dict(set_up())
    written = json_file is None or write(json_file, json.dumps(said, indent=1))
    for name, value in said.items():
        click.echo(f"{name:15} {value}")
    return 0 if written else 1
