"""Every test starts with an empty cache and no events, as the core's do."""

from tests.core.conftest import fresh

__all__ = ["fresh"]
