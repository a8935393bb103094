"""`lazytensor demo`: whole programs with NumPy and with lazytensor, and pictures of the results."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from lazytensor.cli.output import Target
from lazytensor.cli.process import Outcome, measure
from lazytensor.cli.table import ABSENT, ratio, seconds, table


@dataclass(frozen=True)
class Example:
    """A program of the examples folder, its arguments, and the colours of its picture."""

    file: str
    name: str
    title: str
    arguments: tuple[str, ...]
    quick: tuple[str, ...]
    colours: str


EXAMPLES = (
    Example(
        "gray_scott.py",
        "Gray–Scott",
        "Gray–Scott reaction–diffusion",
        ("--size", "512", "--steps", "4000"),
        ("--size", "160", "--steps", "1200"),
        "magma",
    ),
    Example(
        "shallow_water.py",
        "Shallow water",
        "Shallow water: a jet breaks up",
        ("--columns", "320", "--rows", "180", "--steps", "4000"),
        ("--columns", "96", "--rows", "54", "--steps", "800"),
        "RdBu_r",
    ),
    Example(
        "black_scholes.py",
        "Black–Scholes",
        "Black–Scholes: mean worth of options, by spot price and volatility",
        ("--size", "2000", "--rounds", "8"),
        ("--size", "200", "--rounds", "3"),
        "viridis",
    ),
)


@dataclass(frozen=True)
class Result:
    """One run of an example: the process, the time of its computation and its field."""

    outcome: Outcome
    seconds: float
    field: np.ndarray


@click.command()
@click.option(
    "--out",
    default="demo-pictures",
    type=Target(folder=True),
    help="The folder for the pictures.",
    show_default=True,
)
@click.option("--quick", is_flag=True, help="Small sizes: a look in seconds, no speed to speak of.")
def demo(out: Path, quick: bool) -> None:
    """Run real programs with NumPy and with lazytensor, and draw their results."""
    console = Console()
    with _progress(console) as progress:
        rows = [_run_both(example, progress, quick) for example in EXAMPLES]
    console.print(_table(rows))
    _draw(console, out, [lazy for _, lazy in rows])


def examples_folder() -> Path:
    """Return the examples' folder: in an installed package, or beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "examples", package.parent / "examples"):
        if all((folder / example.file).exists() for example in EXAMPLES):
            return folder
    raise click.ClickException(f"the example programs are missing from {package}")


def _progress(console: Console) -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _run_both(example: Example, progress: Progress, quick: bool) -> tuple[Result, Result]:
    numpy = _run(example, progress, quick=quick, plain=True)
    return numpy, _run(example, progress, quick=quick, plain=False)


def _run(example: Example, progress: Progress, *, quick: bool, plain: bool) -> Result:
    """Run an example in a process of its own, showing the time it takes."""
    label = f"{example.name} with {'NumPy' if plain else 'lazytensor'}"
    task = progress.add_task(label, total=None)
    with tempfile.TemporaryDirectory(prefix="lazytensor-") as folder:
        field = Path(folder) / "field.npy"
        arguments = (*(example.quick if quick else example.arguments), "--out", str(field))
        outcome = measure(str(examples_folder() / example.file), arguments, plain=plain)
        if outcome.status:
            text = f"{example.file} ended with status {outcome.status}\n{outcome.stderr}"
            raise click.ClickException(text)
        said = json.loads(outcome.stdout.splitlines()[-1])
        result = Result(outcome, said["seconds"], np.load(field))
    progress.remove_task(task)
    progress.console.print(f"{label}: {seconds(result.seconds)}")
    return result


def _table(rows: list[tuple[Result, Result]]) -> Table:
    headings = ("NumPy", "lazytensor", "ratio", "max |Δ|", "relative", "compiles", "cuts")
    shown = table("Unmodified NumPy programs", *headings)
    for example, (numpy, lazy) in zip(EXAMPLES, rows, strict=True):
        shown.add_row(
            example.name,
            seconds(numpy.seconds),
            seconds(lazy.seconds),
            ratio(numpy.seconds, lazy.seconds),
            *_distances(numpy.field, lazy.field),
            str(lazy.outcome.metrics.get("compiles", ABSENT)),
            str(lazy.outcome.metrics.get("cuts", ABSENT)),
        )
    return shown


def _distances(left: np.ndarray, right: np.ndarray) -> tuple[str, str]:
    """Return the largest difference of two fields, and its ratio to the largest value."""
    if left.shape != right.shape:
        return f"shape {right.shape}, not {left.shape}", ""
    distance = float(np.max(np.abs(left.astype(float) - right), initial=0.0))
    scale = float(np.max(np.abs(left), initial=0.0))
    return f"{distance:.1e}", f"{distance / scale:.1e}" if scale else ABSENT


def _draw(console: Console, out: Path, results: list[Result]) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        console.print(
            "No pictures: matplotlib is not installed (pip install 'lazytensor\\[bench]')."
        )
        return
    out.mkdir(parents=True, exist_ok=True)
    console.print("Pictures of the fields that lazytensor computed:")
    for example, result in zip(EXAMPLES, results, strict=True):
        height, width = result.field.shape
        figure = Figure(figsize=(8, 8 * height / width + 0.6), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(example.title)
        axes.set_axis_off()
        axes.imshow(result.field, cmap=example.colours, origin="lower")
        path = out / f"{Path(example.file).stem}.png"
        figure.savefig(path, dpi=120)
        console.print(f"  {path.resolve()}", soft_wrap=True)
