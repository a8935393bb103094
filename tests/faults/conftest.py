"""The same fresh start as for the tests of the core."""

from tests.core.conftest import fresh

__all__ = ["fresh"]
