"""`make accelerators` runs these tests: they need compilers that the suite does not install."""

import pytest

from lazytensor.backends.xla import targets

TARGETS = ("h100", "v5e")


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """A device to compile for, whose compiler is here."""
    lacking = targets.missing(request.param)
    if lacking:
        pytest.skip(lacking)
    return str(request.param)
