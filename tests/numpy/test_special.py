"""SciPy's special functions on lazy arrays: SciPy's values, recorded."""

import numpy as np
import pytest
import scipy.special

import lazytensor.numpy as lnp
from lazytensor.core.observe import metrics
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.ufuncs.special import ROWS

NUMBERS = "-30 -7.5 -2.5 -1 -0.75 -1e-9 -0.0 0 1e-12 0.25 0.5 0.999 1 1.5 2 3.7 12 40 171 300"
POINTS = np.array([*map(float, NUMBERS.split()), -np.inf, np.inf, np.nan])
ULPS = {
    "logit": 8, "log_expit": 8, "entr": 8, "exp10": 16, "i1e": 16, "ndtr": 128,
    "gammainc": 2048, "gammaincc": 32, "dawsn": 64, "spence": 24,
}  # fmt: skip
"""In units of the result's last place, 4 where not named: exp10 is a power, i1e a sum
of polynomials, ndtr rounds its argument before the tail's exponential, and gammainc is e to the
-490 here, an exponent whose last place is 512 of the result's. In dawsn and spence SciPy is off."""
ROOTS = {"gammaln": 16, "psi": 16, "gammaincc": 32, "j0": 8, "j1": 8, "y0": 8, "y1": 8}
"""In units of 1.0's last place: these have roots (at 1, at 1.46…) and cancel near them, and
gammaincc is what is left of 1. SciPy rounds x - π/4 before it takes the cosine."""


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("name", ROWS)
def test_scipys_values_without_a_cut(name: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    function = getattr(scipy.special, name)
    others = [np.linspace(-2.0, 5.0, POINTS.size)] * (function.nin - 1)
    lazy = [lnp.array(x) for x in (POINTS, *others)]
    before = metrics.snapshot()
    made = function(*lazy)
    after = metrics.snapshot()
    assert after["cuts"] == before["cuts"]
    assert after["fallbacks"] == before["fallbacks"]
    assert type(made) is type(lazy[0])
    with np.errstate(all="ignore"):
        expected = function(POINTS, *others)
    assert made.dtype == expected.dtype
    found = np.asarray(made)
    special = ~np.isfinite(expected)
    np.testing.assert_array_equal(found[special], expected[special])
    found, expected = found[~special], expected[~special]
    # XLA flushes subnormal results to zero.
    allowed = np.abs(expected) * 2.0**-52 * ULPS.get(name, 4) + np.finfo(float).tiny
    allowed += ROOTS.get(name, 0) * 2.0**-52
    error = np.abs(found - expected)
    assert (error <= allowed).all(), (POINTS[~special], error / allowed)


def test_single_precision_stays_single() -> None:
    made = scipy.special.erf(lnp.ones(3, dtype=lnp.float32))
    assert made.dtype == np.float32
    np.testing.assert_allclose(np.asarray(made), scipy.special.erf(np.float32(1.0)), rtol=1e-6)


def test_what_has_no_row_falls_back_loudly() -> None:
    with pytest.warns(match="gamma is not lazy"):
        made = scipy.special.gamma(lnp.array([3.0, 5.0]))
    assert made.tolist() == [2.0, 24.0]
