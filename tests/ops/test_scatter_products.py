"""Complex products by places are those of whole arrays, to the last bit."""

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.interpreter import reference_of


def test_updates_of_a_place_are_multiplied_in_their_order() -> None:
    draw = np.random.default_rng(0)
    x, updates = (draw.normal(size=n) + 1j * draw.normal(size=n) for n in (7, 50))
    places = draw.integers(0, 7, 50)
    wanted = x.copy()
    for place, update in zip(places, updates, strict=True):
        wanted[place] = np.multiply(wanted[place : place + 1], np.array([update]))[0]
    found = reference_of(ops.scatter, ((0,), "mul"))(x, updates, places)
    np.testing.assert_array_equal(found, wanted)
