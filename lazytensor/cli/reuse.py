"""`lazytensor reuse`: how much of the code the frontends share."""

import json
from pathlib import Path

import click


@click.command()
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write it to a file.")
@click.option(
    "--frontend",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="The file or package of another frontend, to be counted too.",
)
def reuse(json_file: Path | None, others: tuple[Path, ...]) -> int:
    """Count what the frontends share: lines of code, and the core's ops."""
    from lazytensor.reuse import report, tables

    try:
        found = report.make(others)
    except SyntaxError as error:
        raise click.ClickException(f"{error.filename or 'a file'} is no Python: {error}") from None
    if json_file is not None:
        json_file.write_text(json.dumps(found.record(), indent=1), encoding="utf-8")
    tables.show(found)
    return 0
