"""Asking for a device that is not here, without its compiler. `make accelerators` has the rest."""

import numpy as np
import pytest

import lazytensor
from lazytensor.backends.xla import targets


def test_a_target_that_is_not_known_names_those_that_are() -> None:
    program = lazytensor.trace(lambda x: x + 1.0, np.ones(3))
    with pytest.raises(ValueError, match="one of h100, h200, v5e; got 'abacus'"):
        program.compiled_for("abacus")


@pytest.mark.parametrize("target", targets.TARGETS)
def test_a_compiler_that_is_missing_says_how_to_get_it(target: str) -> None:
    if not targets.missing(target):
        pytest.skip("its compiler is here")
    program = lazytensor.trace(lambda x: x + 1.0, np.ones(3))
    with pytest.raises(ImportError, match="`make accelerators` does it"):
        program.compiled_for(target)
