"""What to write instead: rows from what was seen of a line to what to do about it.

The first row that applies of each group is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from lazytensor.cli.finding import Finding

MANY: Final = 8
"""Times after which something is not by the way."""
CONVERSIONS: Final = {"float", "int", "bool", "complex", "item", "tolist", "round", "asarray"}
SHOWS: Final = {"print", "format", "str", "repr", "write", "info", "debug", "warning"}


class Row(NamedTuple):
    """Where it applies, and the advice; `{name}` stands for the names of NumPy's functions."""

    name: str
    applies: Callable[[Finding], bool]
    text: str


def _reads(finding: Finding) -> bool:
    return finding.observations > 0


def _again(finding: Finding) -> bool:
    return finding.observations > 1


def _calls(finding: Finding, names: set[str]) -> bool:
    return _reads(finding) and not names.isdisjoint(finding.source.called)


def _element(finding: Finding) -> bool:
    source = finding.source
    return finding.observations >= MANY and (source.varies or source.iterated)


def _says(pattern: str) -> Callable[[Finding], bool]:
    """Whether reasons for compiles, or what was new in programs that came often, read so.

    Not the first at a line: what was cut there first has nothing to be compared with.
    """
    compiled = re.compile(pattern)

    def applies(finding: Finding) -> bool:
        new = list(finding.tally.new.elements())
        reasons = [*finding.tally.reasons.elements()][1:] + (new[1:] if len(new) >= MANY else [])
        return any(compiled.search(reason) for reason in reasons)

    return applies


def _said(pattern: str) -> Callable[[Finding], bool]:
    """The same with the first."""
    compiled = re.compile(pattern)
    return lambda finding: any(compiled.search(reason) for reason in finding.tally.reasons)


OBSERVATIONS: Final = (
    Row(
        "foreign",
        lambda f: bool(f.tally.foreign),
        "Installed code asks for the values here. Hand it `np.asarray(x)` once, outside of loops.",
    ),
    Row(
        "mask",
        lambda f: f.observed["boolean mask"] > 1,
        "How many elements this has is data. `np.where(mask, f(x), x)`, `x[mask] = f(x[mask])` and "
        "reductions with `where=mask` need no cut.",
    ),
    Row(
        "host",
        lambda f: _again(f) and bool(f.computed),
        "{name} needs values, and NumPy computes it; what was recorded before is computed first. "
        "Call it once, after the loop, or write it with lazy functions: sums of `np.where`, "
        "products with a table of flags.",
    ),
    Row(
        "errstate",
        lambda f: f.observed["errstate"] > 1,
        "Where `errstate` says `raise`, `call` or `print`, each operation is computed at once. Ask "
        "for warnings, or look at `np.isfinite(x).all()` at the end.",
    ),
    Row(
        "element",
        _element,
        "A Python loop over elements. Write it for whole arrays (slices, `np.where`, reductions), "
        "or loop over `x.tolist()`.",
    ),
    Row(
        "test",
        lambda f: _again(f) and f.source.tested,
        "A test of an array cuts each time round. Choose values with `np.where(condition, a, b)`; "
        "in a loop that must end by itself test every k-th round: `if i % 50 == 0 and …`.",
    ),
    Row(
        "print",
        lambda f: _again(f) and _calls(f, SHOWS),
        "Printing cuts. Print every k-th round, or keep what is to be printed in a list and print "
        "after the loop.",
    ),
    Row(
        "conversion",
        lambda f: _again(f) and _calls(f, CONVERSIONS),
        "Each conversion to a Python number cuts and waits. Keep the scalar: it computes, compares "
        "and formats like a number. Collect scalars in a list and convert them after the loop.",
    ),
    Row(
        "again",
        lambda f: _again(f) and f.observations >= MANY,
        "Values are asked for many times. Ask for them once, after the loop.",
    ),
)

COMPILES: Final = (
    Row(
        "shape",
        _says(r" of type \S+\[.* instead of "),
        "Shapes or dtypes change: each is a program of its own. Keep one shape (the largest, "
        "padded, and a mask), or round lengths up to a few sizes.",
    ),
    Row(
        "attribute",
        _says(r" with .* instead of .*"),
        "A static argument (an axis, a shape, a slice's length) changes: each is a program of its "
        "own. Keep it the same, or make it data: `np.roll(x, n)`, `x[i : i + 4]` are.",
    ),
    Row(
        "structure",
        _says(r"operations (more|fewer)|\w+ instead of \w+|of other operands"),
        "Other operations than last time: a Python branch or a loop of another length. "
        "Choose with `np.where`, and go round as often each time.",
    ),
    Row(
        "live",
        _says(r"is (live|dead) now|live in another order"),
        "The same operations, but other results are kept. `del` the names that are not needed.",
    ),
    Row(
        "shared",
        _said("no longer shared|other donations"),
        "Nothing to do: compiled once more, so that an input's memory is used for a result.",
    ),
    Row(
        "scalar",
        _said("a scalar or a slice start changed"),
        "Nothing to do: numbers that vary cost a program two more compiles at the most.",
    ),
    Row(
        "first",
        lambda f: f.compiles > 0 and f.tally.parts["running"] < f.seconds / 2,
        "Nothing to do: compiled once, and kept on disk for the next process.",
    ),
)

FALLBACKS: Final = (
    Row(
        "fallback",
        lambda f: f.tally.fallbacks.total() > 0,
        "{name}: NumPy computes it. Call it once, on whole arrays, outside of loops; or write it "
        "with functions that are lazy (the first line of `help({name})` says whether one is).",
    ),
)

# A program that is still interpreted after so many runs takes less than half a millisecond.
SIZES: Final = (
    Row(
        "small",
        lambda f: f.tally.ways["interpreted"] >= 100,
        "Many cuts with little work in each: recording pays for more. `LAZYTENSOR_SMALL=1000` "
        "leaves arrays of fewer elements to NumPy; or compute many at once, with one more axis.",
    ),
)

WORK: Final = Row("work", lambda f: True, "The work itself, recorded up to here and run at once.")

GROUPS: Final = (OBSERVATIONS, COMPILES, FALLBACKS, SIZES)


def rows(finding: Finding) -> list[Row]:
    """The rows that apply to a line."""
    found = [next((row for row in group if row.applies(finding)), None) for group in GROUPS]
    return [row for row in found if row is not None] or [WORK]


def advice(finding: Finding) -> dict[str, str]:
    """What to write instead, by the name of the row."""
    name = ", ".join([*finding.tally.fallbacks, *finding.computed])
    return {row.name: row.text.replace("{name}", name) for row in rows(finding)}
