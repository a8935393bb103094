"""Finalizers that compute, run by a collection of garbage that comes anywhere."""

import pytest

from tests.core.processes import attempt

PROGRAM = """
import sys
import numpy as np
import lazytensor
import lazytensor.numpy as lnp

lazytensor.settings.small = 0
x = lnp.array(np.random.default_rng(0).standard_normal(40_000))
small = lnp.ones(5)
ended = [0]

class Computes:
    def __init__(self):
        self.me = self

    def __del__(self):
        ended[0] += float((small * 2).sum()) == 10.0

for i in range(40):
    found = np.asarray({expression})
    for _ in range(300):
        Computes()
assert ended[0] > 1000, ended
print("end")
"""
EXPRESSIONS = {"elementwise": "x * (i + 2) + 1", "called back": "lnp.sort(x * (i + 2)) + 1"}


@pytest.mark.parametrize("pure", ["", "1"])
@pytest.mark.parametrize("tier", ["interpret", "compile", "auto"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_finalizer_may_compute(name: str, tier: str, pure: str) -> None:
    """The process once crashed, or hung."""
    program = PROGRAM.replace("{expression}", EXPRESSIONS[name])
    done = attempt(program, LAZYTENSOR_TIER=tier, LAZYTENSOR_PURE=pure)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
