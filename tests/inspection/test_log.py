"""`LAZYTENSOR_LOG`: one line for each cut, compile and fallback."""

import re

import pytest

from tests.core.processes import run

PROGRAM = """
    import numpy
    import lazytensor.numpy as np
    x = np.ones(3)
    for n in (3, 2):
        float(np.sin(x[:n]).sum())
    try:
        np.searchsorted(x * 1j, 1j)
    except Exception:
        pass
"""
LINES = {
    "cuts": r"lazytensor cut .*:6 in <module>: observation: \d operations, compiled, [\d.]+ ms",
    "compiles": r"lazytensor compile .*:6 in <module>: \d operations: \w.* at .*:6 in <module>",
    "fallbacks": r"lazytensor fallback .*:8 in <module>: numpy.searchsorted is not lazy, .* ms",
}


@pytest.mark.parametrize("wanted", [{"cuts"}, {"compiles", "fallbacks"}, set()])
def test_each_kind_has_its_lines(wanted: set[str]) -> None:
    done = run(PROGRAM, LAZYTENSOR_LOG=",".join(wanted), LAZYTENSOR_TIER="compile")
    for name, pattern in LINES.items():
        assert bool(re.search(f"^{pattern}$", done.stderr, re.MULTILINE)) is (name in wanted)
