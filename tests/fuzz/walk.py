"""Random programs, line by line: written, run with both, and cut down where both differ."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count

import numpy

from lazytensor import Mesh
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.host import access_counters
from tests.fuzz import grammar
from tests.fuzz.pair import Difference, Pair, count_as_small, quiet

MOST_ARRAYS = 9
SMALL = (0, 5, 14)
"""What `leaving_small` is tried with: 0 for all arrays to be lazy."""


class Failure(Exception):
    """A program that gives a difference: its lines, and the difference."""

    def __init__(self, lines: list[str], text: str) -> None:
        super().__init__("\n".join([*lines, f"# {text}"]))
        self.lines = lines
        self.text = text


@contextmanager
def leaving_small(elements: int) -> Iterator[None]:
    """Arrays of fewer elements stay NumPy's own, and memory is lent at the first read."""
    before, settings.small = settings.small, elements
    patience, access_counters.TRIALS = access_counters.TRIALS, 0
    try:
        yield
    finally:
        count_as_small(0)
        settings.small, access_counters.TRIALS = before, patience


@contextmanager
def splitting(*meshes: Mesh) -> Iterator[None]:
    """Every second new array is split over one of the meshes."""
    Pair.meshes = meshes
    try:
        yield
    finally:
        Pair.meshes = ()


def walk(numbers: Iterable[int]) -> list[str]:
    """Write and run a program, a line or two for each number. Raises: Failure."""
    lines: list[str] = []
    with quiet(), numpy.errstate(all="ignore"):
        pair = Pair()
        try:
            for number in numbers:
                for line in _next(pair, random.Random(number)):
                    lines.append(line)
                    pair.run(line)
            pair.finish()
        except Difference as difference:
            raise Failure(lines, str(difference)) from difference
    return lines


def _next(pair: Pair, rng: random.Random) -> Iterator[str]:
    yield grammar.line(rng, pair.pool())
    for attempt in count():  # views of other dtypes can make each other wild for ever
        line = pair.tame(for_good=attempt > 1)
        if line is None:
            break
        yield line
    if len(pair.pool()) > MOST_ARRAYS:
        yield f"del {rng.choice(list(pair.pool()))}"


def replay(lines: Iterable[str]) -> None:
    """Run a program that was written before. Raises: Failure."""
    lines = list(lines)
    with quiet(), numpy.errstate(all="ignore"):
        pair = Pair()
        try:
            for line in lines:
                pair.run(line)
            pair.finish()
        except Difference as difference:
            raise Failure(lines, str(difference)) from difference


def shrunk(failure: Failure) -> Failure:
    """The same difference, or one like it, with as few lines as can be."""
    part = len(failure.lines) // 2
    while part:
        at = len(failure.lines) - part
        while at >= 0:
            shorter = failure.lines[:at] + failure.lines[at + part :]
            found = _failure(shorter)
            if found is not None and found.text[:12] == failure.text[:12]:
                failure = found
            at -= part
        part //= 2
    return failure


def _failure(lines: list[str]) -> Failure | None:
    try:
        replay(lines)
    except Failure as failure:
        return failure
    return None
