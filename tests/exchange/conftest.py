"""Where torch or TensorFlow is not installed, these tests do not exist."""

import os
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

_both = find_spec("torch") is not None and find_spec("tensorflow") is not None
collect_ignore_glob = [] if _both else ["*.py"]

if _both:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own deprecations, at import
        import tensorflow  # noqa: F401


@pytest.fixture(scope="module")
def recording() -> Iterator[None]:
    """TensorFlow is lazy in the tests of a file; to end that looks at all objects there are."""
    import lazytensor.tf

    with lazytensor.tf.enabled():
        yield
