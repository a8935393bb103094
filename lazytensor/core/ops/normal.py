"""Functions of the normal distribution's tails, by polynomials.

The coefficients go through them at Chebyshev's nodes of a range, as mpmath computes them to 45
digits. erfcx: Shepherd and Laframboise (1981), Mathematics of Computation 36. ndtri: Wichura
(1988), Applied Statistics 37.
"""

from __future__ import annotations

import math
from typing import Final

from lazytensor.core.ir.node import Node
from lazytensor.core.ops.approximation import in_double, number, polynomial
from lazytensor.core.ops.elementwise import abs, copysign, equal, minimum, select
from lazytensor.core.ops.special import exp, log, sqrt

BEND: Final = 4.0
"""The x at which v, see ERFCX, is 1/2."""
INFINITE_X: Final = 1e300
"""An x at which v is 1."""
ERFCX: Final = (
    0.465990237251105, -0.7452324709322301, 0.7759917751374701, -0.6397976666280815,
    0.43771953455544527, -0.2502538645588139, 0.1175931329350927, -0.043258101859647194,
    0.01086263373377765, -0.0007986937777292074, -0.0007168527094593078, 0.0003183393053585665,
    -1.709645318552762e-05, -3.170191952141225e-05, 9.259648189480442e-06, 2.1598281800836142e-06,
    -1.5763596686218195e-06, -7.506369904143345e-08, 2.305025638631717e-07,
    -8.735479772563095e-09, -3.271612520380083e-08, 2.299345004392396e-09, 4.165449684624011e-09,
    -2.189001257687893e-10, -3.339239209781263e-10,
)  # fmt: skip
"""`((1 + 2x) erfcx(x) - 1) / v` in 2v - 1, where v = x / (x + BEND)."""
CENTRE: Final = (
    3.387132872796367, 168.7695859059428, 3383.9305070235127, 35097.59362354282,
    201853.53648477246, 642549.1592490167, 1070696.0909198807, 823211.500234892,
    222542.29888923568, 9337.31868254127,
)  # fmt: skip
"""ndtri over q = p - 1/2, in 0.425² - q² up to |q| = 0.425: the numerator."""
CENTRE_BELOW: Final = (
    1.0, 52.831937249429, 1135.7701222515911, 12818.244715578627, 81857.5377525994,
    297827.2025479828, 592776.8233874465, 586386.2572520972, 237397.53921448093,
    24659.993400567433,
)  # fmt: skip
"""The denominator."""
START: Final = 1.6
"""Centre of TAIL's polynomials: the r at p = 0.077."""
TAIL: Final = (
    0.8393045890472685, 1.4924074457344312, 1.0542282848501179, 0.38480780796936753,
    0.07810830942415178, 0.008455420873749325, 0.00041303872821846525, 6.253805005757543e-06,
    4.5930810732494765e-09,
)  # fmt: skip
"""sqrt(2) r + ndtri(p) of a small p in `r - START`, where r = sqrt(-log(p)), up to r = 5: the
numerator."""
TAIL_BELOW: Final = (
    1.0, 2.127883721818429, 1.8536422373122377, 0.8612948629146217, 0.23230837351184094,
    0.03653775096236904, 0.0031045723966457565, 0.00011831643275257624, 1.327537561130109e-06,
)  # fmt: skip
"""The denominator."""
TAIL_FAR: Final = (
    0.4131631683643716, 0.2922102841013221, 0.0842068076129112, 0.012744246774078396,
    0.001090688921506375, 5.3181904190780555e-05, 1.4255717387618178e-06, 1.935453168459598e-08,
    1.1351126708014422e-10, 2.008565124814884e-13, 1.4152834564661443e-17,
)  # fmt: skip
"""The same from there up to 27.4, beyond which p is 0: in r - 5."""
FAR_BELOW: Final = (
    1.0, 0.8426598162674295, 0.2968841116230981, 0.05677405677844421, 0.00640739337996071,
    0.0004355557820005618, 1.7527837769527305e-05, 3.967830365790865e-07, 4.5942186549003824e-09,
    2.281150285228908e-11, 3.2511224608699166e-14,
)  # fmt: skip
"""The denominator."""


def _erfcx(x: Node) -> Node:
    size = abs(x)
    finite = minimum(size, number(INFINITE_X))
    share = finite / (finite + BEND)
    found = share * polynomial(share * 2.0 - 1.0, ERFCX) + 1.0
    found = found / (size * 2.0 + 1.0)
    mirrored = exp(x * x) * 2.0 - found
    return select(x < 0.0, mirrored, found)


def _ndtri(p: Node) -> Node:
    apart = p - 0.5
    least = minimum(p, 1.0 - p)
    r = sqrt(0.0 - log(least))
    is_far = r > 5.0
    tail, far = r - START, r - 5.0
    above = select(is_far, polynomial(far, TAIL_FAR), polynomial(tail, TAIL))
    below = select(is_far, polynomial(far, FAR_BELOW), polynomial(tail, TAIL_BELOW))
    inside = abs(apart) < 0.425
    rest = 0.425 * 0.425 - apart * apart
    above = select(inside, polynomial(rest, CENTRE), above)
    share = above / select(inside, polynomial(rest, CENTRE_BELOW), below)
    outside = copysign(r * math.sqrt(2) - share, apart)
    found = select(inside, apart * share, outside)
    end = select(p < 0.5, number(-math.inf), number(math.inf))
    return select(equal(least, number(0.0)), end, found)


erfcx = in_double("erfcx", _erfcx, "exp(x²) times erfc(x).")
ndtri = in_double(
    "ndtri", _ndtri, "The x-quantile of the standard normal distribution; NaN outside 0 to 1."
)
