"""`lazytensor reuse`: the share of code that frontends have in common, written and run."""

import json
import os
import sys
from pathlib import Path

import click

from lazytensor.cli.output import Target, write
from lazytensor.core import binaries


@click.command()
@click.option("--json", "json_file", type=Target(), help="Write it to a file.")
@click.option("--html", "html_file", type=Target(), help="Write it as a page with charts.")
@click.option("--static", is_flag=True, help="Count code only: run no workloads.")
@click.option(
    "--frontend",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="The file or package of another frontend, to be counted too.",
)
def reuse(
    json_file: Path | None, html_file: Path | None, static: bool, others: tuple[Path, ...]
) -> int:
    """Count what the frontends share: lines of code, functions, the core's ops
    and compositions.

    Then run the same workloads in each: lines run, and whether the programs are one.
    """
    if not static and binaries.mode == binaries.COMPILED:
        # Lines of compiled code are not counted, so the command starts again without it.
        sys.stdout.flush()
        command = [sys.executable, "-m", "lazytensor", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, binaries.PURE: "1"})
    from lazytensor.reuse import page, report, tables

    try:
        found = report.make(others, runs=not static)
    except SyntaxError as error:
        raise click.ClickException(f"{error.filename or 'a file'} is not Python: {error}") from None
    written = json_file is None or write(json_file, json.dumps(found.record(), indent=1))
    written &= html_file is None or write(html_file, page.page(found.record()))
    tables.show(found)
    return 0 if written else 1
