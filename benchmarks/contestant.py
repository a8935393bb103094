"""A contestant in a process of its own: neither's memory, threads or hooks are the other's."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

from benchmarks.figures import rest
from benchmarks.program import ROOT


class Contestant:
    """A process that takes turns: for each line that it reads it writes one, of JSON.

    call: a statement that does so until its input ends, and then writes what it has counted.
    python: the interpreter, ours if there is none. settings: variables of its environment.
    """

    def __init__(self, call: str, python: str = "", **settings: str) -> None:
        self.process = Popen(
            [python or sys.executable, "-c", call],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, **settings},
        )

    def turn(self) -> float:
        """The seconds that a step took."""
        return float(self._answer("\n"))

    def __enter__(self) -> Contestant:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> Mapping[str, float]:
        """What was counted; the process ends."""
        found: dict[str, float] = self._answer(None)
        self.process.wait()
        return found

    def _answer(self, line: str | None) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if line is None:
            self.process.stdin.close()
        else:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a contestant ended with code {self.process.wait()}")
        return json.loads(answer)


def take_turns(turn: Callable[[], float]) -> None:
    """Be such a process, in which nothing is counted. A turn ends when its threads are at rest."""
    for _ in sys.stdin:
        with redirect_stdout(sys.stderr):
            seconds = turn()
        rest()
        print(json.dumps(seconds), flush=True)
    print("{}")
