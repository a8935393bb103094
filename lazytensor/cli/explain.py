"""`lazytensor explain`: why a script's graph was cut and compiled, line by line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from lazytensor.cli.output import Target, say, write
from lazytensor.cli.script_run import ScriptRun
from lazytensor.swap import standard_input


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.option("--json", "json_file", type=Target(), help="Write it to a file.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def explain(
    script: str, arguments: tuple[str, ...], module: bool, json_file: Path | None
) -> ScriptRun:
    """Run SCRIPT, and say what cut its graph, what was compiled, and what had changed.

    A script that imports lazytensor itself is run as it is; any other with lazy NumPy instead of
    NumPy, as `lazytensor run` does.
    """
    plain = imports_lazytensor(script, module=module)
    return ScriptRun(script, arguments, module, plain, 1, None, partial(explained, json_file))


def imports_lazytensor(script: str, *, module: bool) -> bool:
    """Whether the script's file imports lazytensor."""
    import ast
    import importlib.util

    try:
        if module:
            spec = importlib.util.find_spec(script)
            script = str(spec.origin) if spec is not None else ""
        is_input = script == "-" and not module
        tree = ast.parse(standard_input() if is_input else Path(script).read_bytes())
    except (OSError, SyntaxError, ValueError, ImportError):
        return False  # running it reports the error
    names = [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    names += [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    return any(name.split(".")[0] == "lazytensor" for name in names)


@contextmanager
def explained(record: Path | None) -> Iterator[None]:
    """Watch the block and explain it, also if it raises."""
    from lazytensor.inspection.explanation import Explanation, heard

    with heard() as happened:
        try:
            yield
        finally:
            found = Explanation(happened)
            say(f"lazytensor explain: {found}")
            if record is not None:
                write(record, json.dumps(found.record(), indent=1))
