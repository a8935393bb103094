"""NumPy and ours in step: each line of a program is run with both, and what they show compared."""

from __future__ import annotations

import re
import warnings
import zlib
from itertools import combinations
from typing import Any

import numpy

import lazytensor
import lazytensor.numpy
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar
from lazytensor.frontends.numpy.host.bound import put_back, raise_to
from lazytensor.frontends.numpy.host.profitability import raising
from lazytensor.sharding import mark_sharding
from tests.fuzz.test_barriers import usual

TIERS = ["interpret", "compile", "auto", "interpret"]
GROWN = [0, 24, 60, 60]
"""Elements of arrays that come to count as small; 0: none do any longer."""
ARRAY = re.compile(r"a\d+")
ZERO = re.compile(r"-0\.(?!\d)")
"""One that is negative: of those that products of matrices give, BLAS decides."""
SMALL = 16
"""Bound of the numbers in arrays: sums of them are exact, in float16 too."""
LARGE = 2**20


class Difference(AssertionError):
    """What one of them did and the other did not."""


class Side:
    """One of the two: its variables, and what it has been asked to show."""

    def __init__(self, np: Any) -> None:
        self.seen: list[Any] = []
        self.names: dict[str, Any] = {
            "np": np,
            "see": lambda *values: self.seen.extend(values),
            "barrier": lambda: None,
            "tier": lambda number: None,
            "grow": lambda number: None,
        }

    def run(self, line: str) -> Exception | None:
        """The exception that it raises."""
        try:
            exec(line, self.names)
        except Exception as error:  # noqa: BLE001  both must raise the same
            return error
        return None


class Pair:
    """Both sides, from an empty program on."""

    meshes: tuple[lazytensor.Mesh, ...] = ()
    """Those over which new arrays are split, every second of them."""

    def __init__(self) -> None:
        usual()
        count_as_small(0)
        self.real, self.lazy = Side(numpy), Side(lazytensor.numpy)
        self.lazy.names |= {"barrier": lazytensor.sync, "tier": _tier, "grow": _grow}

    def pool(self) -> dict[str, Any]:
        """The arrays there are, by name; NumPy's."""
        return {name: x for name, x in self.real.names.items() if ARRAY.fullmatch(name)}

    def run(self, line: str) -> None:
        """Run a line. Raises: Difference."""
        same_error(self.lazy.run(line), self.real.run(line))
        same(self.lazy.seen, self.real.seen)
        self.lazy.seen.clear()
        self.real.seen.clear()
        made = re.match(r"(a\d+) = ", line)
        if made and made[1] in self.real.names:
            if self.meshes:
                self._split(made[1], zlib.crc32(line.encode()))
            self._keep(made[1], zlib.crc32(line.encode()))

    def _split(self, name: str, number: int) -> None:
        """Split an array of its own over a mesh, along an axis that has parts enough."""
        x, mesh = self.lazy.names.get(name), self.meshes[number % len(self.meshes)]
        if number % 2 or not isinstance(x, Lazy) or type(x.ref) is not Cell:
            return
        if not x.flags.writeable:
            return
        axes = [axis for axis, n in enumerate(x.shape) if n and n % mesh.size == 0]
        if axes:
            axis = axes[number // 2 % len(axes)]
            mark_sharding(x, mesh, (None,) * axis + (mesh.names,))

    def _keep(self, name: str, number: int) -> None:
        """Compare a new array, three times out of four: looking makes a masked read a real one."""
        x = self.real.names[name]
        foreign = type(self.lazy.names.get(name)) is numpy.ndarray  # what methods of NumPy's give
        if not isinstance(x, numpy.ndarray | numpy.generic):
            same(self.lazy.names[name], x)
        elif foreign:
            same_layout(self.lazy.names[name], x)
            same(self.lazy.names[name], x)
        elif number % 4:
            same_form(self.lazy.names[name], x)
            self._same_relations(name)
        if not isinstance(x, numpy.ndarray | numpy.generic) or x.size > 60 or x.ndim > 5 or foreign:
            self.drop(name)

    def _same_relations(self, name: str) -> None:
        """Which of the others it is, is a view of, overlaps."""
        for other in self.pool():
            if other != name:
                self._same_relation(name, other)

    def _same_relation(self, one: str, other: str) -> None:
        x, y = self.real.names[one], self.real.names[other]
        if isinstance(x, numpy.ndarray) and isinstance(y, numpy.ndarray):
            expected = relation(numpy, x, y)
            u, v = self.lazy.names[one], self.lazy.names[other]
            got = relation(lazytensor.numpy, u, v)
            _expect(got == expected, "{} and {}: {} instead of {}", one, other, got, expected)
            based = not x.size or (
                (u.base is v or x.base is not y) and (v.base is u or y.base is not x)
            )
            _expect(based, "{} and {}: one is the base of the other", one, other)

    def drop(self, name: str) -> None:
        """Forget an array."""
        del self.real.names[name]
        self.lazy.names.pop(name, None)

    def tame(self, *, for_good: bool) -> str | None:
        """A line that makes an array's numbers small and whole again, or drops it."""
        for name, x in self.pool().items():
            if not _wild(x):
                continue
            if for_good or not isinstance(x, numpy.ndarray) or not x.flags.writeable:
                return f"del {name}"
            with numpy.errstate(all="ignore"):
                clip = x.dtype.kind == "f" and bool((abs(x) <= 2 * SMALL * SMALL).all())
            return f"{name}[...] = np.clip(np.rint({name}), -9, 9)" if clip else f"{name}.fill(1)"
        return None

    def finish(self) -> None:
        """Compare all arrays. Raises: Difference."""
        for name, x in self.pool().items():
            same_form(self.lazy.names[name], x)
        for name, x in self.pool().items():
            same(self.lazy.names[name], x, name)
        for one, other in combinations(self.pool(), 2):
            self._same_relation(one, other)


def _tier(number: int) -> None:
    settings.tier = TIERS[number]


def _grow(number: int) -> None:
    if settings.small:
        count_as_small(GROWN[number])


def count_as_small(elements: int) -> None:
    """Let lazy arrays of up to `elements` elements count as small until changed again."""
    put_back()
    if elements:
        raise_to(elements + 1)
        for call in raising:
            call()


def _wild(x: Any) -> bool:
    """Whether sums and products of the numbers of `x` may depend on their order."""
    if _within_flags(x):
        return True
    if x.dtype.kind in "iu":
        return bool((x > LARGE).any() or (x < -LARGE).any())
    if x.dtype.kind == "b":
        return False
    with numpy.errstate(all="ignore"):
        return not bool(((abs(x) <= SMALL) & (numpy.rint(x) == x)).all())


def _within_flags(x: Any) -> bool:
    """Whether flags in its memory, seen as such, are neither 0 nor 1: ours are always."""
    root = x
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    flags = [seen for seen in (x, root) if seen.dtype == bool]
    return any(bool((seen.view(numpy.uint8) > 1).any()) for seen in flags)


def relation(np: Any, x: Any, y: Any) -> str:
    """What two arrays have in common."""
    if x is y:
        return "one object"
    return "sharing memory" if np.shares_memory(x, y) else "apart"


def same_form(got: Any, expected: Any) -> None:
    """Scalar or array, dtype, shape, layout, flags. Raises: Difference."""
    scalar = type(got) is Scalar or isinstance(got, numpy.generic)
    _expect(scalar == isinstance(expected, numpy.generic), "{}: {!r} expected", type(got), expected)
    # Methods of real scalars make some arrays of one, and their operators small ones.
    lazy = scalar or isinstance(got, Lazy) or got.size == 1 or got.size < settings.small
    _expect(lazy, "a real array, {!r}: a lazy one expected", got)
    same_layout(got, expected)
    if not scalar:
        own = got.base is None and bool(got.flags.owndata)
        _expect(own or not expected.flags.owndata, "a view instead of an array of its own")


def same_layout(got: Any, expected: Any) -> None:
    """Dtype, shape, strides, flags. Raises: Difference."""
    for name in ("dtype", "shape", "ndim", "size", "itemsize", "nbytes"):
        one, other = getattr(got, name), getattr(expected, name)
        _expect(one == other, "{}: {} instead of {}", name, one, other)
    if isinstance(expected, numpy.ndarray):
        layout = [steps(x) for x in (got, expected)]
        _expect(layout[0] == layout[1], "strides {}, not {}", layout[0], layout[1])
        shown = [flags(x) for x in (got, expected)]
        _expect(shown[0] == shown[1], "flags: {} instead of {}", shown[0], shown[1])


def steps(x: Any) -> list[int]:
    """The strides that lead from an element to another one: the others say nothing."""
    return [step for n, step in zip(x.shape, x.strides, strict=True) if n > 1 and x.size]


def flags(x: Any) -> str:
    """Flags but that of ownership: NumPy's functions may show a view of an array nobody has."""
    names = ("c_contiguous", "f_contiguous", "fnc", "forc", "farray", "writeable", "aligned")
    return ", ".join(name for name in names if getattr(x.flags, name))


def same(got: Any, expected: Any, where: str = "values") -> None:
    """Equal values, of equal types. Raises: Difference."""
    if isinstance(expected, list | tuple):
        _expect(isinstance(got, list | tuple), "{}: {!r} instead of {!r}", where, got, expected)
        _expect(len(got) == len(expected), "{}: {!r} instead of {!r}", where, got, expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other, where)
        return
    if not isinstance(expected, numpy.ndarray | numpy.generic | float | complex):
        texts = str(got), str(expected)  # flags have no other way
        if any(ZERO.search(text) for text in texts):  # zeros are equal in values as well
            texts = _unsigned(texts[0]), _unsigned(texts[1])
        _expect(texts[0] == texts[1], "{}: {!r} instead of {!r}", where, got, expected)
        return
    x, y = numpy.asarray(got), numpy.asarray(expected)
    _expect((x.dtype, x.shape) == (y.dtype, y.shape), "{}: {!r} instead of {!r}", where, x, y)
    exact = y.dtype.kind not in "fc"
    rtol = 0 if exact else 16 * float(numpy.finfo(y.dtype).eps)
    close = numpy.allclose(x, y, rtol=rtol, atol=rtol, equal_nan=not exact)
    _expect(close, "{}:\n{!r}\ninstead of\n{!r}", where, x, y)


def _unsigned(text: str) -> str:
    """An array's text without the signs of its zeros, and the blanks that make room for them."""
    return "".join(ZERO.sub("0.", text).split())


def same_error(got: Exception | None, expected: Exception | None) -> None:
    """Both raise, ours the class of NumPy's, or neither. Raises: Difference."""
    if expected is None and got is None:
        return
    if got is None or expected is None:
        raise Difference(f"{got!r} instead of {expected!r}") from got
    public = ("builtins", "numpy.exceptions")
    wanted = next(kind for kind in type(expected).__mro__ if kind.__module__ in public)
    if not isinstance(got, wanted):
        raise Difference(f"{got!r} instead of {expected!r}") from got


def _expect(holds: bool, text: str, *values: Any) -> None:
    """Raise a difference unless something holds; only then are values looked at, which cuts."""
    if not holds:
        raise Difference(text.format(*values))


def quiet() -> warnings.catch_warnings[None]:
    """A context in which no warning is given: only NumPy's half gives some."""
    return warnings.catch_warnings(action="ignore")
