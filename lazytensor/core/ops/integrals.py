"""Dawson's integral and the dilogarithm, by polynomials.

The coefficients interpolate them at Chebyshev's nodes of a range, as mpmath computes them to 45
digits. An argument of the dilogarithm far from 1 is mapped close to 1: Abramowitz and Stegun, 27.7.
"""

from __future__ import annotations

import math
from typing import Final

from lazytensor.core.ir.node import Node
from lazytensor.core.ops.approximation import in_double, number, polynomial
from lazytensor.core.ops.elementwise import abs, copysign, maximum, minimum, reciprocal, select
from lazytensor.core.ops.special import log, log1p

DAWSON_NEAR_BOUND: Final = 4.0
"""Up to here Dawson's integral is x times a function of x²."""
LEAST: Final = 1e-300
"""Replaces 0 in a logarithm that is multiplied by 0, to avoid NaN."""
DAWSON_NEAR: Final = (
    1.0, -0.09436904540258746, 0.04388960270671309, -0.0010733992307010675,
    0.00041197130339387953, 1.583882923631248e-06, 1.4212067662331355e-06, 2.5670519877604058e-08,
    2.150171833882178e-09, 4.420919328786141e-11, 1.2436490392211255e-12, 1.4156648708072405e-14,
    2.9530242131229364e-18,
)  # fmt: skip
"""dawsn(x) over x, in x², up to x = 4: the numerator."""
NEAR_BELOW: Final = (
    1.0, 0.5722976212640786, 0.1587546835494403, 0.028340833655602898, 0.003643689482983208,
    0.00035745740382347725, 2.762952548557651e-05, 1.7102255537569681e-06, 8.509254882440419e-08,
    3.3702748704667228e-09, 1.031676553887578e-10, 2.271309431607799e-12, 2.9899957376037005e-14,
)  # fmt: skip
"""The denominator."""
DAWSON_FAR: Final = (
    0.5255031327386718, 0.027845548529490494, 0.002671716991293712, 0.0003955429818287528,
    8.494839158756801e-05, 2.6279070156842474e-05, 1.1917595053542717e-05, 7.094776122958252e-06,
    3.4584764155531126e-06, -1.1322053106232146e-06, -4.687396728730978e-06,
    -3.3672670141122957e-06, 2.042837688980035e-06, 4.1385949743658185e-06,
    -4.380650956896591e-07, -3.7097546084916917e-06, -1.1953288023602272e-07,
    2.867024384735995e-06, 1.763660388124666e-07, -1.804574439076657e-06, -9.229869892252925e-08,
    8.300492708074875e-07, 2.6355023406216247e-08, -2.405479219046213e-07,
    -3.3540423470198656e-09, 3.242739316237143e-08,
)  # fmt: skip
"""`x² (2x dawsn(x) - 1)` in 32 / x² - 1, from x = 4 on."""
SPENCE: Final = (
    -1.0, 0.25, -0.11111111111110722, 0.06249999999999636, -0.040000000000868854,
    0.02777777777859181, -0.02040816318931017, 0.015624999928800697, -0.012345682454538728,
    0.010000003224810452, -0.008264370391582893, 0.006944357867116754, -0.005918744450702981,
    0.005103525241946862, -0.004426358928256557, 0.003889310383128348, -0.003600139357130834,
    0.0032174680203503024, -0.0020375264341500887, 0.0018140774863389852, -0.00479396782964705,
    0.004431022230570338, 0.0034662512602668645, -0.003275798045295305, -0.007439671548248699,
    0.00693796658985606,
)  # fmt: skip
"""spence(1 + w) over w, in w, from -1/2 up to 1/2."""


def _dawsn(x: Node) -> Node:
    size = abs(x)
    close = minimum(size, number(DAWSON_NEAR_BOUND))
    square = close * close
    near = close * (polynomial(square, DAWSON_NEAR) / polynomial(square, NEAR_BELOW))
    inverse = reciprocal(maximum(size, number(DAWSON_NEAR_BOUND)))
    square = inverse * inverse
    rest = square * polynomial(square * 32.0 - 1.0, DAWSON_FAR)
    far = inverse * 0.5 * (rest + 1.0)
    return copysign(select(size > DAWSON_NEAR_BOUND, far, near), x)


def _spence(x: Node) -> Node:
    inverted = x > 1.5
    place = select(inverted, reciprocal(x), x)
    low = place < 0.5
    w = select(low, -place, place - 1.0)
    found = w * polynomial(w, SPENCE)
    logarithm = log(maximum(x, number(LEAST)))
    other = select(inverted, -logarithm, logarithm) * log1p(-place)
    mirrored = math.pi**2 / 6 - other - found
    found = select(low, mirrored, found)
    turned = logarithm * logarithm * -0.5 - found
    found = select(inverted, turned, found)
    return select(x < 0.0, number(math.nan), found)


dawsn = in_double("dawsn", _dawsn, "exp(-x²) times the integral of exp(t²) from 0 to x.")
spence = in_double("spence", _spence, "The integral of log(t) / (1 - t) from 1 to x; NaN below 0.")
