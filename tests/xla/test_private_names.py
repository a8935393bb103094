"""The private names of jax and jaxlib that the backend uses are there."""

import pytest

from lazytensor.backends.xla import private_names
from lazytensor.backends.xla.private_names import PRIVATE_NAMES, missing


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_private_name(name: str) -> None:
    assert PRIVATE_NAMES[name]() is not None


def test_a_name_that_moved_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing() == []
    monkeypatch.setitem(private_names.PRIVATE_NAMES, "jax.gone", lambda: private_names.jax.gone)
    assert [text.split()[0] for text in missing()] == ["jax.gone"]
