"""What TensorFlow's bridge writes, compiled by our XLA, at every dtype that its kernel takes.

The samples of the sweep are cast: floats to all floats, whole numbers to all whole numbers. What
TF's kernel refuses at a dtype is not asked of us. The nightly run has all of it, CI a few that XLA
compiles in no time. What differs is named in `gaps.py`; a gap that has closed fails here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lazytensor.tf
from lazytensor import metrics
from lazytensor.core.settings import settings
from lazytensor.frontends.tf.dispatch import bridge
from lazytensor.frontends.tf.dispatch.opdef import find
from tests.sweeps import WHOLE
from tests.tensorflow_frontend.gaps import BRIDGE_GAPS, marked
from tests.tensorflow_frontend.samples import Sample
from tests.tensorflow_frontend.test_sweep import BY_OP, COMPILED, _outcome
from tests.tensorflow_frontend.test_wide_sweep import REFUSED, near

OPS = [op for text in bridge.ROWS.values() for op in text.split() if op not in COMPILED]
SECTION = {("PopulationCount", "uint16"), ("RGBToHSV", "float64"), ("ReverseSequence", "int8")}
FLOATS = (tf.float32, tf.float64, tf.float16, tf.bfloat16)
INTS = (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64)


def _attr(op: str) -> str:
    """The attribute that names the dtype of the op's data: that of its first input."""
    definition = find(op)
    assert definition is not None
    return definition.inputs[0].type_attr


def _dtypes(op: str) -> tuple[Any, ...]:
    """Those that the samples of an op can be cast to."""
    first = BY_OP[op][0].inputs[0]
    kind = (first[0] if isinstance(first, list) else first).dtype.kind
    return FLOATS if kind == "f" else INTS


def _cast(sample: Sample, dtype: Any) -> Sample:
    """The sample with all of the inputs that have the dtype of the first cast to another."""
    definition = find(sample.op)
    assert definition is not None
    attr = _attr(sample.op)

    def cast(x: Any) -> Any:
        return np.asarray(x).astype(dtype.as_numpy_dtype)

    inputs = [
        x if not attr or given.type_attr != attr
        else [cast(item) for item in x] if isinstance(x, list) else cast(x)
        for x, given in zip(sample.inputs, definition.inputs, strict=True)
    ]  # fmt: skip
    return sample._replace(inputs=tuple(inputs))


def _numbers(sample: Sample) -> list[np.ndarray] | None:
    """The results and the gradients; None for what is refused."""
    try:
        made, slopes = _outcome(sample)
        return [np.asarray(t.numpy()) for t in [*made, *slopes] if t is not None]
    except REFUSED:
        return None


def _differs(op: str, dtype: Any) -> bool:
    for sample in (_cast(sample, dtype) for sample in BY_OP[op]):
        expected = _numbers(sample)
        if expected is None:
            continue
        with lazytensor.tf.enabled():
            before = metrics.counts["fallbacks"]
            found = _numbers(sample)
            if found is None or metrics.counts["fallbacks"] > before:
                return True
        least = sample.near if dtype == tf.float32 else 0.0
        for x, y in zip(found, expected, strict=True):
            if x.dtype != y.dtype or not near(x, y, tf.as_dtype(y.dtype), least):
                return True
    return False


def cases() -> Iterator[tuple[str, Any]]:
    for op in OPS:
        for dtype in _dtypes(op) if _attr(op) else ():
            if WHOLE or (op, dtype.name) in SECTION:
                yield op, dtype


@pytest.mark.filterwarnings("ignore:.*is not lazy yet")
@pytest.mark.parametrize(("op", "dtype"), list(marked(cases(), BRIDGE_GAPS)))
def test_what_the_bridge_writes_is_tensorflows_at_a_dtype(
    op: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)
    assert not _differs(op, dtype)
