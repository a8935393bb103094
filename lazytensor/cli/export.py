"""`lazytensor export`: a function, a model or an artifact, written for another runtime."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np

from lazytensor.cli.output import say
from lazytensor.core.errors import LazyTensorError

if TYPE_CHECKING:
    from lazytensor.artifacts import Artifact

NAMES: Final = ("stablehlo", "jax", "savedmodel", "tflite", "onnx", "iree", "web")
"""The targets, without the imports that knowing all about them needs."""
OPEN_SIZE: Final = 4
"""The size of an example for one that is left open."""
_INPUT: Final = re.compile(r"(\w+)\[([\w\s,]*)\]")


@click.command()
@click.option("--to", "target", type=click.Choice(NAMES), default="stablehlo", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file or folder written.")
@click.option(
    "--input", "inputs", multiple=True, metavar="TYPE",
    help="An argument, as float32[8,64] or float32[batch,64], whose first size is left open.",
)  # fmt: skip
@click.option("--example", help="The script's name for an argument, or a tuple of them.")
@click.option("--name", default="", help="The program's name; the function's by default.")
@click.option("--beside", is_flag=True, help="stablehlo: the weights in a file of their own.")
@click.option("--backend", default="", help="iree: llvm-cpu or vmvx.")
@click.option("--runtime", default="", help="web: a folder with the npm package onnxruntime-web.")
@click.argument("source")
def export(
    source: str, target: str, output: Path | None, inputs: tuple[str, ...], example: str | None,
    name: str, beside: bool, backend: str, runtime: str,
) -> int:  # fmt: skip
    """Write a program that runs without this library, for another runtime.

    SOURCE is SCRIPT.py:NAME or MODULE:NAME of a function or a model, or the path of an artifact
    that was exported before. The script is imported, not run as a program. Arguments are described
    by --input, or taken from the script by --example; by default it is asked for NAME_example, and
    for example.
    """
    from lazytensor.artifacts.targets import TARGETS

    given = {"backend": backend, "runtime": runtime}
    options = {key: value for key, value in given.items() if value}
    try:
        artifact = _artifact(source, inputs, example, name)
        path = output or Path(f"{artifact.name}{TARGETS[target].suffix}")
        if beside:
            artifact.save(path, weights="beside")
        else:
            artifact.to(target, path, **options)
    except (LazyTensorError, ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise click.ClickException(f"{source}: {error}") from error
    say(f"{artifact!r}\nwritten to {path}, {_size(path)}")
    if target == "web":
        say(f"open {path / 'index.html'} in a browser")
    return 0


def _artifact(source: str, inputs: tuple[str, ...], example: str | None, name: str) -> Artifact:
    from lazytensor import artifacts

    if source.endswith(".zip"):
        return artifacts.load(source)
    file, _, attribute = source.rpartition(":")
    if not file:
        text = f"SCRIPT.py:NAME, MODULE:NAME or an artifact was expected, got {source!r}"
        raise click.UsageError(text)
    module = _imported(file)
    function = _attribute(module, attribute, file)
    if inputs:
        arrays, symbolic = _described(function, inputs)
        return artifacts.export(function, *arrays, name=name or attribute, symbolic=symbolic)
    found = _example(module, attribute, example, file)
    return artifacts.export(function, *found, name=name or attribute)


def _imported(file: str) -> Any:
    """The module of a script's path, or of a module's name."""
    if not file.endswith(".py"):
        sys.path.insert(0, "")
        return importlib.import_module(file)
    path = Path(file)
    if not path.exists():
        raise click.UsageError(f"there is no file {file}")
    sys.path.insert(0, str(path.parent.absolute()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _attribute(module: Any, name: str, file: str) -> Any:
    if not hasattr(module, name):
        there = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise click.UsageError(f"{file} has no {name!r}; it has {there}")
    return getattr(module, name)


def _example(module: Any, name: str, example: str | None, file: str) -> tuple[Any, ...]:
    """The example arguments that the script has."""
    names = [example] if example else [f"{name}_example", "example"]
    for each in names:
        if hasattr(module, each):
            found = getattr(module, each)
            found = found() if isinstance(found, Callable) else found  # type: ignore[arg-type]
            return found if isinstance(found, tuple) else (found,)
    text = f"{file} has no {' or '.join(names)}: describe the arguments by --input, or name them"
    raise click.UsageError(f"{text} by --example")


def _described(function: Any, inputs: tuple[str, ...]) -> tuple[list[Any], Any]:
    """Arguments of the described types, and which of their sizes are left open."""
    from lazytensor.artifacts.tracing import Example, from_host

    arrays, sizes = [], []
    for text in inputs:
        found = _INPUT.fullmatch(text.strip())
        if found is None:
            raise click.UsageError(f"--input: float32[8,64] was expected, got {text!r}")
        shape = [part.strip() for part in found[2].split(",") if part.strip()]
        sizes.append({i: n for i, n in enumerate(shape) if not n.isdigit()})
        known = [int(n) if n.isdigit() else OPEN_SIZE for n in shape]
        try:
            arrays.append(from_host(function, np.zeros(known, found[1])))
        except TypeError as error:
            raise click.UsageError(f"--input: {text!r}: {error}") from error
    names = list(Example(function, arrays, {}).arrays)
    symbolic: Mapping[str, Any] = {k: v for k, v in zip(names, sizes, strict=True) if v}
    return arrays, symbolic


def _size(path: Path) -> str:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    total = sum(file.stat().st_size for file in files)
    return f"{total / 1e6:.1f} MB" if total >= 1e5 else f"{total / 1e3:.1f} kB"
