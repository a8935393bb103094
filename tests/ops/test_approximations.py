"""Special functions made of polynomials: how far from the exact values, and from SciPy's.

An error is counted in last places of the result; where a function oscillates, of its amplitude
there if that is greater, since next to a zero the result is a small difference of large numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from scipy import special

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.op import Op
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings

EXACT = 4
"""Last places that every function is off by, at most."""
Array = np.ndarray


class Case(NamedTuple):
    """A function on a range: what it is exactly, SciPy's, and how far that is off.

    `places`: the ends of the range. `amplitude`: how large it is if it oscillates. `apart`: last
    places that SciPy's is off by, `magnified` more for each that its argument to a sine or an
    exponential, as a function of x, is rounded by. `also_ours`: ours is rounded likewise.
    """

    op: Op
    places: tuple[float, float]
    exact: Callable[[Any], Any]
    scipy: Callable[[Array], Array]
    apart: float
    amplitude: Callable[[Array], Array] = np.zeros_like
    magnified: Callable[[Array], Array] = np.zeros_like
    also_ours: bool = False


def wave(x: Array) -> Array:
    """The amplitude of J and Y, but not more than 1."""
    with np.errstate(divide="ignore"):
        return np.minimum(np.sqrt(2 / np.pi / np.abs(x)), 1)


def airy_wave(x: Array) -> Array:
    """That of Ai of negative numbers."""
    return np.pi**-0.5 * np.abs(x) ** -0.25


def phase(x: Array) -> Array:
    """What `x - π/4` is rounded by, in last places of the amplitude."""
    return np.spacing(np.abs(x)) / np.spacing(wave(x))


def airy_phase(x: Array) -> Array:
    """Of ζ = 2/3 |x|^(3/2)."""
    return 4 * np.abs(x) ** 1.5


def scaled(function: Callable[..., Any], order: int, sign: int) -> Callable[[Any], Any]:
    """A function of mpmath's, of that order, times an exponential."""
    return lambda x: function(order, x) * mpmath.exp(sign * abs(x))


def of_order(name: str, order: int) -> Callable[[Any], Any]:
    """A function of mpmath's, of that order."""
    return partial(getattr(mpmath, name), order)


def exact_erfcx(x: Any) -> Any:
    return mpmath.exp(x * x) * mpmath.erfc(x)


def exact_ndtri(p: Any) -> Any:
    """By Newton's method for the logarithm."""
    start = mpmath.mpf(float(special.ndtri(float(p))))
    share = mpmath.log(p)
    for _ in range(3):
        tail = mpmath.ncdf(start)
        start -= (mpmath.log(tail) - share) * tail / mpmath.npdf(start)
    return start


def exact_dawsn(x: Any) -> Any:
    return mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


def exact_spence(x: Any) -> Any:
    return mpmath.polylog(2, 1 - x).real


def airy(x: Array) -> Array:
    """SciPy's; 0 where that gives up, as torch's."""
    made: Array = special.airy(x)[0]
    return np.where(np.isfinite(x) & (x > 1e3), 0.0, made)


def _bessel() -> list[Case]:
    made = []
    for order in (0, 1):
        j, y = (getattr(ops, f"bessel_{kind}{order}") for kind in "jy")
        first = of_order("besselj", order), getattr(special, f"j{order}")
        second = of_order("bessely", order), getattr(special, f"y{order}")
        for low, high, apart in ((-40, 0, 8), (0, 2, 5), (2, 8, 5), (8, 40, 5), (40, 1e9, 5)):
            made.append(Case(j, (low, high), *first, apart, wave, phase))
        for low, high, apart in ((0, 2, 16), (2, 8, 24), (8, 40, 5), (40, 1e9, 5)):
            made.append(Case(y, (low, high), *second, apart, wave, phase))
        for kind, sign in (("i", -1), ("k", 1)):
            op = getattr(ops, f"bessel_{kind}{order}")
            op_scaled = getattr(ops, f"bessel_{kind}{order}e")
            exact = of_order(f"bessel{kind}", order)
            plain, other = (getattr(special, f"{kind}{order}{e}") for e in ("", "e"))
            ends = [(0, 1), (1, 8), (8, 40), (40, 600)]
            for places in ends + [(-40, 0)] * (kind == "i"):
                made.append(Case(op, places, exact, plain, 10))
                found = scaled(getattr(mpmath, f"bessel{kind}"), order, sign)
                made.append(Case(op_scaled, places, found, other, 10))
    return made


CASES = [
    *_bessel(),
    Case(ops.airy_ai, (-300, -4), mpmath.airyai, airy, 5, airy_wave, airy_phase),
    Case(ops.airy_ai, (-4, 0), mpmath.airyai, airy, 5, airy_wave, airy_phase),
    Case(ops.airy_ai, (0, 100), mpmath.airyai, airy, 200, magnified=airy_phase),
    Case(ops.erfcx, (-26, 0), exact_erfcx, special.erfcx, 2, magnified=np.square, also_ours=True),
    Case(ops.erfcx, (0, 100), exact_erfcx, special.erfcx, 6),
    Case(ops.dawsn, (-4, 4), exact_dawsn, special.dawsn, 64),
    Case(ops.dawsn, (4, 100), exact_dawsn, special.dawsn, 16),
    Case(ops.spence, (0, 0.5), exact_spence, special.spence, 16),
    Case(ops.spence, (0.5, 2), exact_spence, special.spence, 24),
    Case(ops.spence, (2, 1e9), exact_spence, special.spence, 12),
    Case(ops.ndtri, (0, 1), exact_ndtri, special.ndtri, 3),
    Case(ops.ndtri, (1e-300, 0.08), exact_ndtri, special.ndtri, 3),
]


COUNT = 480
"""Numbers of a case that are compared with SciPy's."""
SOME = slice(None, None, 16)
"""Those that are compared with exact ones, which take long."""


def numbers(case: Case) -> Array:
    """Some of a range: half of them evenly, half of each magnitude if it is wide."""
    low, high = case.places
    draw = np.random.default_rng(3)
    some = draw.uniform(low, high, COUNT)
    if 0 <= low < high / 100:
        least = max(low, 1e-12)
        some[::2] = np.exp(draw.uniform(np.log(least), np.log(high), COUNT // 2))
    return some


def computed(op: Op, x: Array, tier: str) -> Array:
    settings.tier = tier
    found = op(ops.leaf(x))
    sync(found)
    return np.asarray(fetch(found))


@cache
def results(op: Op, tier: str) -> dict[int, Array]:
    """Per number of a case of that op what it gives, all of it by one program."""
    cases = [i for i, case in enumerate(CASES) if case.op is op]
    found = computed(op, np.concatenate([numbers(CASES[i]) for i in cases]), tier)
    return dict(zip(cases, np.split(found, len(cases)), strict=True))


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")  # tests assign it; this puts it back


def name_of(index: int) -> str:
    case = CASES[index]
    return f"{case.op.name}-{case.places[0]:g}-{case.places[1]:g}"


@pytest.mark.parametrize("index", range(len(CASES)), ids=name_of)
def test_within_four_last_places(index: int) -> None:
    case = CASES[index]
    x = numbers(case)[SOME]
    allowed = EXACT + (case.magnified(x) if case.also_ours else 0)
    with mpmath.workdps(25):
        exact = [case.exact(mpmath.mpf(v)) for v in x]
        size = np.maximum(np.abs(np.array([float(v) for v in exact])), case.amplitude(x))
        for tier in ("interpret", "compile"):
            found = results(case.op, tier)[index][SOME]
            error = [float(abs(mpmath.mpf(a) - b)) for a, b in zip(found, exact, strict=True)]
            places = np.array(error) / np.spacing(size)
            assert (places <= allowed).all(), (tier, x[places.argmax()], places.max())


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("index", range(len(CASES)), ids=name_of)
def test_as_far_from_scipy_as_scipy_is_off(index: int, tier: str) -> None:
    case = CASES[index]
    x = numbers(case)
    found, expected = results(case.op, tier)[index], case.scipy(x)
    size = np.maximum(np.abs(expected), case.amplitude(x))
    places = np.abs(found - expected) / np.spacing(size)
    extra = 0 if case.also_ours else case.magnified(x)
    beyond = places - extra - case.apart - EXACT
    assert (beyond <= 0).all(), (x[beyond.argmax()], places[beyond.argmax()], beyond.max())


OPS = list(dict.fromkeys(case.op for case in CASES))
ENDS = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, -2.5, 1.0, 0.5, 1e-300, 1e300, 715.0, 800.0]


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_ends_are_scipys(op: Op, tier: str) -> None:
    """Infinities, NaN, zeros, numbers outside of the domain."""
    (scipy,) = {case.scipy for case in CASES if case.op is op}
    x = np.array(ENDS)
    found, expected = computed(op, x, tier), scipy(x)
    special_ones = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(found[special_ones], expected[special_ones])
    assert np.isfinite(found[~special_ones]).all()


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_single_precision_is_rounded_once(op: Op) -> None:
    places = {case.places for case in CASES if case.op is op}
    x = np.concatenate([np.linspace(*ends, 500) for ends in places]).astype(F32)
    for tier in ("interpret", "compile"):
        with np.errstate(over="ignore"):
            expected = computed(op, x.astype(F64), tier).astype(F32)
        found = computed(op, x, tier)
        normal = ~(np.abs(expected) < np.finfo(F32).tiny)
        np.testing.assert_array_equal(found[normal], expected[normal])


def test_what_is_simple_is_exact() -> None:
    ones = [ops.bessel_j0, ops.bessel_i0, ops.bessel_i0e, ops.erfcx, ops.spherical_bessel_j0]
    for tier in ("interpret", "compile"):
        assert all(computed(op, np.zeros(1), tier)[0] == 1 for op in ones)
        assert computed(ops.ndtri, np.full(1, 0.5), tier)[0] == 0
