"""The Airy function of the first kind, by polynomials.

The coefficients interpolate it at Chebyshev's nodes of a range, as mpmath computes it to 45 digits.
Far out it is an amplitude times an exponential, or waves, of ζ = 2/3 |x|^(3/2): DLMF 9.7. These
magnify the rounding error of ζ, so ζ is the sum of two numbers.
"""

from __future__ import annotations

import math
from typing import Final

from lazytensor.core.ir.node import Node
from lazytensor.core.ops.approximation import beside_zeros, head, in_double, number, polynomial
from lazytensor.core.ops.elementwise import abs, is_inf, maximum, minimum, reciprocal, select
from lazytensor.core.ops.special import cos, exp, sin, sqrt

TINY: Final = 1e-30
"""At this x the function equals its value at 0."""
NONE: Final = 120.0
"""At this x the function is below any f64."""
ASYMPTOTIC_FROM: Final = 4.0
"""From here on, and below minus this, the forms for large numbers are used."""
ZEROS: Final = (
    (-2.338107410459767, -3.912260409818305e-17),
    (-4.08794944413097, -3.387261694242901e-16),
)
"""The first zeros, each as the sum of two numbers."""
NEAR_ZERO: Final = (
    0.03714434438500628, -0.052051443301534446, 0.03110893189051133, -0.009278549625855089,
    0.0007268492056948646, 0.00048208243815232497, -0.00019380080376546369,
    2.6130888815755193e-05, 2.707566727186725e-06, -1.688807453218451e-06, 2.5422142652212693e-07,
    4.634477849283173e-09, -9.103560675431282e-09, 9.385970516886037e-10, -2.401855393110565e-10,
    -1.302224861110007e-10, -3.164336333322269e-11, -1.0240282254099667e-11,
    -2.2220052411118177e-12, -3.1656193056721443e-13, -3.053295319173004e-14,
    -4.759158178338617e-16, 3.3633627367448204e-16, 3.920840624582923e-17, 1.4022987205687306e-18,
)  # fmt: skip
"""Ai over `x - zero` for both, in x, from -4 up to 0."""
MIDDLE: Final = (
    0.3550280538878172, 0.8633955058041953, 1.1674865306237288, 1.1896470053175061,
    0.9357757696285122, 0.5812129875609866, 0.29397863128211893, 0.11838988293445392,
    0.03696291321253465, 0.008613147084442992, 0.001258693962765857, 4.936363181153265e-05,
    1.4806750756834258e-07,
)  # fmt: skip
"""exp(ζ) Ai in sqrt(x), from 0 up to 4: the numerator."""
MIDDLE_BELOW: Final = (
    1.0, 2.4319078347454015, 4.017445716746702, 4.457074742682494, 3.943270554537962,
    2.6940576976800994, 1.5243847227210336, 0.6753838126720144, 0.24595232867883698,
    0.06474054885470938, 0.013021529943827746, 0.0010986014511169197, 1.5459947618438216e-05,
)  # fmt: skip
"""The denominator."""
ABOVE: Final = (
    0.28209479177387814, 3.639998282857246, 16.120844032461683, 30.018175673632282,
    23.070758982922538, 6.042188238179303, 0.287939067588341,
)  # fmt: skip
"""exp(ζ) x^(1/4) Ai in 1 / ζ, from 4 on: the numerator."""
ABOVE_BELOW: Final = (
    1.0, 12.972902391924025, 58.010666682153214, 109.99644460761823, 87.70344587872498,
    24.997189304361935, 1.549288624979538,
)  # fmt: skip
"""The denominator."""
PHASE_COSINE: Final = (
    1.0, -0.03713348765414084, 0.057649189908478796, -0.2915908288957157, 3.079105099240981,
    -55.48999251267918, 1498.3338105919456, -53151.64778414148, 2122525.921435726,
    -82659737.41623151, 2829335371.4168262, -79423489300.64865, 1736033798328.912,
    -28077098604712.633, 313968453694752.6, -2158302048282262.0, 6854093532402547.0,
)  # fmt: skip
"""P of Ai(-x) = (P cos(ζ - π/4) + Q sin(ζ - π/4)) / (sqrt(π) x^(1/4)), in 1 / ζ²."""
PHASE_SINE: Final = (
    0.06944444444444443, -0.03799305912757998, 0.11609906325425817, -0.877665878717633,
    12.340739626431267, -278.06537683428746, 9075.168159066785, -387320.3097241315,
    19041461.47187866, -947799801.29299, 43235208357.40907, -1692563102666.9167,
    54454486720853.94, -1392606304858669.2, 2.7391621661864444e+16, -3.975438654995465e+17,
    3.9969190330396626e+18, -2.4806079467926348e+19, 7.1485441877949964e+19,
)  # fmt: skip
"""Q times ζ, in 1 / ζ²."""


def _zeta(x: Node, root: Node) -> tuple[Node, Node]:
    """2/3 x sqrt(x), as the sum of two numbers: products of heads are exact."""
    upper, top = head(x), head(root)
    rest, lower = x - upper, root - top
    off = x - top * top - top * lower * 2.0 - lower * lower
    lost = off / (root * 2.0)  # the rounding error of the root
    product = upper * top
    low = upper * lower + rest * root + x * lost
    high = product / 1.5
    low = ((product - high - high * 0.5) + low) / 1.5
    found = high + low
    return found, (high - found) + low


def _ai(x: Node) -> Node:
    most = select(x < 0.0, number(math.inf), number(NONE))
    size = minimum(maximum(abs(x), number(TINY)), most)
    root = sqrt(size)
    zeta, low = _zeta(size, root)
    inverse = reciprocal(zeta)
    scale = sqrt(root)
    far = size > ASYMPTOTIC_FROM
    falling = polynomial(inverse, ABOVE) / polynomial(inverse, ABOVE_BELOW)
    middle = polynomial(root, MIDDLE) / polynomial(root, MIDDLE_BELOW)
    fall = exp(-zeta)
    above = select(far, falling / scale, middle) * (fall - fall * low)
    below = select(far, _waves(zeta, low, inverse) / scale, _near(x))
    found = select(x < 0.0, below, above)
    return select(is_inf(x), number(math.nan), found)


def _near(x: Node) -> Node:
    place = maximum(x, number(-ASYMPTOTIC_FROM))
    return polynomial(place, NEAR_ZERO) * beside_zeros(place, ZEROS)


def _waves(zeta: Node, low: Node, inverse: Node) -> Node:
    square = inverse * inverse
    even, odd = polynomial(square, PHASE_COSINE), inverse * polynomial(square, PHASE_SINE)
    sine, cosine = sin(zeta), cos(zeta)
    sine, cosine = sine + low * cosine, cosine - low * sine
    found = (even - odd) * cosine + (even + odd) * sine
    return found * (1 / math.sqrt(2 * math.pi))


airy_ai = in_double("airy_ai", _ai, "The Airy function Ai; NaN where x is infinite.")
