"""Run NPBench's kernels from a checkout, unmodified, with NumPy and with NumPy swapped."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks.figures import Figure
from benchmarks.npbench import outcome as outcomes
from benchmarks.npbench.kernel import PRESETS, Kernel, kernels
from benchmarks.npbench.outcome import Outcome
from benchmarks.process import TIMEOUT, Failed, python

FILE_WIDTH = 160  # columns of the table when it goes to a file


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.npbench", description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="a checkout of spcl/npbench")
    parser.add_argument("--preset", choices=PRESETS, default="S")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="kernels (default: all)")
    parser.add_argument("--seconds", type=float, default=4.0, help="per kernel, when warm")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds per kernel")
    parser.add_argument("--peers", action="store_true", help="also their JAX versions")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to save all figures")
    parser.add_argument("--inside", metavar="NAME", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure_here(kernel: Kernel, chosen: argparse.Namespace) -> None:
    """Be the kernel's own process: print its figures as JSON."""
    from benchmarks.npbench.contest import measure

    figures = measure(kernel, chosen.preset, chosen.seconds, peers=chosen.peers)
    print(json.dumps({name: asdict(figure) for name, figure in figures.items()}))


def measured(kernel: Kernel, chosen: argparse.Namespace) -> Outcome:
    """Measure a kernel in a process of its own, with an empty disk cache."""
    command = ["-m", "benchmarks.npbench", "--source", str(chosen.source.resolve())]
    command += ["--preset", chosen.preset, "--seconds", str(chosen.seconds)]
    command += ["--peers"] if chosen.peers else []
    with TemporaryDirectory(prefix="lazytensor-npbench-") as cache:
        try:
            ended = python(*command, "--inside", kernel.name, cache=cache, timeout=chosen.timeout)
        except TimeoutExpired:
            return Outcome(kernel.name, failure=f"took more than {chosen.timeout:g} s")
        except Failed as error:
            return Outcome(kernel.name, failure=str(error))
    return Outcome(kernel.name, {name: Figure(**f) for name, f in ended.answer.items()})


def main() -> int:
    """Run the chosen kernels one after another."""
    chosen = arguments()
    found = kernels(chosen.source)
    if chosen.inside:
        measure_here(found[chosen.inside], chosen)
        return 0
    unknown = sorted(set(chosen.only or []) - set(found))
    if unknown or not found:
        print(f"no kernel {', '.join(unknown)} in {chosen.source}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    done: list[Outcome] = []
    for name in chosen.only or found:
        with console.status(f"measuring {name} …"):
            done.append(measured(found[name], chosen))
        speed = f"{done[-1].speed:.2f}×" if done[-1].figures else f"failed: {done[-1].failure}"
        console.print(f"{name}: {speed}", markup=False, highlight=False)
    console.print(outcomes.table(done, f"NPBench, preset {chosen.preset}"))
    console.print(outcomes.summary(done), markup=False)
    if chosen.json:
        rows = [asdict(outcome) for outcome in done]
        chosen.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False))
    return 0 if outcomes.reached(done) else 1


if __name__ == "__main__":
    sys.exit(main())
