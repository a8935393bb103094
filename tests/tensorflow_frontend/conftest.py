"""Where TensorFlow is not installed, these tests do not exist."""

import os
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("tensorflow") else ["test_*.py"]

if find_spec("tensorflow"):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own deprecations, at import
        import tensorflow as tf

        tf.keras.layers  # noqa: B018 -- imports Keras


@pytest.fixture
def recording() -> Iterator[None]:
    """TensorFlow is lazy in the test, and TensorFlow again after it."""
    import lazytensor.tf

    with lazytensor.tf.enabled():
        yield


@pytest.fixture
def no_fallbacks(recording: None) -> Iterator[None]:
    """As `recording`; and nothing may be computed by TensorFlow."""
    from lazytensor import metrics
    from lazytensor.core.observe import events

    metrics.reset()
    yield
    assert metrics.counts["fallbacks"] == 0, [event.name for event in events.fallbacks]
