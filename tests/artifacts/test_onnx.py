"""The ONNX of every operation gives our values in onnxruntime, or is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import onnxruntime

from lazytensor import Unsupported
from lazytensor.artifacts import Artifact
from lazytensor.artifacts.targets import onnx
from lazytensor.artifacts.targets.lacking import STABLEHLO
from lazytensor.backends.xla.portable.operations import read
from tests.artifacts.samples import WHOLE, artifact, usual
from tests.ops.sample import Sample

CLOSE = 1e-5
KNOWN = {
    "atan2(float32": "onnxruntime's Where loses the sign of zero, which says the half-plane",
    "reduce_and(int64": "onnxruntime's ReduceSum of int64 is wrong where the sum is negative",
    "reduce_or(int64": "the same",
    "reduce_xor(int64": "the same",
}
"""Samples with other values, by how their text begins."""
LACKS = ("NOT_IMPLEMENTED", "No corresponding Numpy type", "is not supported with ScatterElements")
"""What onnxruntime says where it has no kernel of ONNX's for a dtype."""
LEAST = 500 if WHOLE else 180
"""Samples that give our values: fewer would be a loss."""


def kind(sample: Sample) -> str:
    """What becomes of a sample: "right", "wrong", "refused", or what onnxruntime lacks."""
    try:
        made = artifact(sample)
        operations = read(made.program).operations()
        assert {op.name for op in operations} <= STABLEHLO
        model = onnx.model(made).SerializeToString()
    except Unsupported:
        return "refused"
    return _compared(sample, made, model)


def _compared(sample: Sample, made: Artifact, model: bytes) -> str:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        session = onnxruntime.InferenceSession(model, options)
        found = session.run(None, {f"x{i}": x for i, x in enumerate(sample.arrays)})
    except Exception as error:  # noqa: BLE001  onnxruntime has a class for each status
        said = str(error)
        return "lacking" if any(text in said for text in LACKS) else f"failed: {said:.200}"
    return "right" if all(map(_is_close, found, made(*sample.arrays))) else "wrong"


def _is_close(found: np.ndarray, expected: np.ndarray) -> bool:
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return False
    return np.allclose(found, expected, rtol=CLOSE, atol=CLOSE / 10, equal_nan=True)


def judged(samples: Iterable[Sample]) -> Counter[str]:
    found: Counter[str] = Counter()
    known = set()
    for sample in samples:
        text, said = str(sample), kind(sample)
        begins = next((key for key in KNOWN if text.startswith(key)), None)
        if begins is not None and said == "wrong":
            known.add(begins)
            said = "known"
        assert said in ("right", "refused", "lacking", "known"), (text, said)
        found[said] += 1
    assert known == set(KNOWN) or not WHOLE
    return found


def test_operations_on_usual_dtypes() -> None:
    found = judged(usual())
    assert found["right"] >= LEAST, found
