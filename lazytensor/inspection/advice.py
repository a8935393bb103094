"""What to write instead: a table from findings about a line to advice.

Each group gives its first row that applies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from lazytensor.core.observe import recompile_reason
from lazytensor.inspection.asking import CONVERSIONS, SHOWS
from lazytensor.inspection.finding import Finding

MANY: Final = 8
"""Number of occurrences from which advice is given."""
HINT: Final = " The first line of `help({name})` says whether it is."


_NEW: Final = "`y = np.sort(x)` is lazy, and `y[1:] != y[:-1]` says where a value is new."
_SYMMETRIC: Final = "For symmetric matrices `np.linalg.eigh` and `np.linalg.eigvalsh` are lazy."
INSTEAD: Final = {
    "numpy.bincount": "Counts of few values are lazy as `(x[:, None] == np.arange(k)).sum(0)`.",
    "numpy.linalg.eig": _SYMMETRIC,
    "numpy.linalg.eigvals": _SYMMETRIC,
    "numpy.linalg.lstsq": "Where the columns of `a` are independent, this is lazy: "
    "`q, r = np.linalg.qr(a)`, then `np.linalg.solve(r, q.conj().T @ b)`.",
    "numpy.unique": _NEW,
    "numpy.unique_values": _NEW,
}
"""Per function that needs values: a lazy replacement for some of its uses."""


class Row(NamedTuple):
    """A condition and its advice; `{name}` stands for the names of the functions."""

    name: str
    applies: Callable[[Finding], bool]
    text: str


def _reads(finding: Finding) -> bool:
    return finding.observations > 0


def _again(finding: Finding) -> bool:
    return finding.observations > 1


def _calls(finding: Finding, names: frozenset[str]) -> bool:
    return _reads(finding) and not names.isdisjoint(finding.source.called)


def _element(finding: Finding) -> bool:
    source = finding.source
    each = source.iterated or (source.varies and not source.reduced)
    return finding.observations >= MANY and each


def _changed(*kinds: str) -> Callable[[Finding], bool]:
    """Whether compiles, or many new interpreted programs, had one of these kinds of change."""

    def applies(finding: Finding) -> bool:
        tally = finding.tally
        often = tally.new if tally.new.total() >= MANY else ()
        return any(kind in tally.changes or kind in often for kind in kinds)

    return applies


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
        "{name} needs values, and is computed on the host; what was recorded before is computed "
        "first. Call it outside of the loop if you can.{instead}",
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
        "A test of an array cuts each time round. Choose values with `where(condition, a, b)`; "
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
        "Each conversion to a Python number cuts and waits. Keep the scalar (in torch "
        "`x.detach()`): it computes, compares and formats like a number. Add scalars up, or "
        "collect them in a list, and convert after the loop.",
    ),
    Row(
        "again",
        lambda f: _again(f) and f.observations >= MANY,
        "Values are asked for many times. Ask for them once, after the loop.",
    ),
)

COMPILES: Final = (
    Row(
        "growth",
        _changed(recompile_reason.GROWTH),
        "An array grows each time round, and each length is a program of its own. Make it as long "
        "as it will be, fill it from the front (`cache[i] = x`), and mask what is not there yet.",
    ),
    Row(
        "shape",
        _changed(recompile_reason.SHAPE),
        "Shapes change: each is a program of its own. Keep one shape (the largest, padded, and a "
        "mask), or round lengths up to a few sizes.",
    ),
    Row(
        "dtype",
        _changed(recompile_reason.DTYPE),
        "The dtype changes: each is a program of its own. Convert once, where the data come in.",
    ),
    Row(
        "attribute",
        _changed(recompile_reason.ATTRIBUTE),
        "A static argument (an axis, a shape, a slice's length) changes: each is a program of its "
        "own. Keep it the same, or make it data: `np.roll(x, n)`, `x[i : i + 4]` are.",
    ),
    Row(
        "loop",
        _changed(recompile_reason.LOOP),
        "A Python loop goes round a different number of times before the cut. Go round as often "
        "each time, or end the program after each round with a test or `lazytensor.sync()`.",
    ),
    Row(
        "input",
        _changed(recompile_reason.INPUT),
        "More or fewer arrays take part: a layer added, or a list of another length. Compiled once "
        "for each number; stack them into one array if it changes often.",
    ),
    Row(
        "structure",
        _changed(recompile_reason.BRANCH, recompile_reason.OPERANDS),
        "Other operations than last time: a Python branch. Choose with `where`, or have both "
        "ways seen early: each is compiled once.",
    ),
    Row(
        "live",
        _changed(recompile_reason.LIVE),
        "The same operations, but other results are kept. `del` the names that are not needed.",
    ),
    Row(
        "shared",
        _changed(recompile_reason.DONATION),
        "Nothing to do: compiled once more, so that an input's memory is used for a result.",
    ),
    Row(
        "sharding",
        _changed(recompile_reason.SHARDING),
        "Another sharding than last time: each is compiled once. Split arrays before the loop.",
    ),
    Row(
        "scalar",
        _changed(recompile_reason.SCALAR),
        "Nothing to do: numbers that vary cost a program at most two more compiles.",
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
        "{name}: computed on the host, by the framework itself. Call it once, on whole arrays, "
        "outside of loops; or write it with functions that are lazy.{hint}",
    ),
)

# A program that is interpreted that often is small, or it would have been compiled.
SIZES: Final = (
    Row(
        "small",
        lambda f: f.tally.ways["interpreted"] >= 100,
        "Many cuts with little work in each: recording pays for more. Ask for values less often; "
        "or compute many at once, with one more axis.",
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
    hint = HINT.replace("{name}", name) if name.startswith("numpy.") else ""
    other = "".join(f" {INSTEAD[called]}" for called in finding.computed if called in INSTEAD)
    texts = {
        row.name: row.text.replace("{hint}", hint).replace("{instead}", other)
        for row in rows(finding)
    }
    return {row: text.replace("{name}", name) for row, text in texts.items()}
