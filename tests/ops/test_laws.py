"""The laws of the ops, checked on every sample."""

from __future__ import annotations

import numpy as np
import pytest

from lazytensor.backends.xla.tables import LOWERINGS
from lazytensor.core import ops
from lazytensor.core.buffers.cell import WRITES, view_step
from lazytensor.core.interpreter.kernels import REFERENCES
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import BF16, F32, F64, FLOATS
from lazytensor.core.ir.op import DATUM, PARAMETER, SLOT, Op, all_ops, element
from lazytensor.core.ir.trait import Trait
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests import sweeps
from tests.ops.sample import Refusal, Sample, all_refusals, all_samples
from tests.sweeps import one_in

BOOKKEEPING = {PARAMETER, SLOT, DATUM, element, ops.guard, ops.guarded}
FLUSHED = {BF16, F32, F64}
"""Floats whose subnormal numbers XLA:CPU takes for zero."""
SAMPLED = sorted({sample.op for sample in all_samples()}, key=lambda op: op.name)


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")  # tests assign it; this puts it back


def samples_of(op: Op) -> list[Sample]:
    """In a commit's run one in three, the first among them."""
    return [sample for sample in all_samples() if sample.op is op][:: 1 if sweeps.WHOLE else 3]


def computed(samples: list[Sample], tier: str) -> list[list[np.ndarray]]:
    """Per sample its results, all computed in one program."""
    settings.tier = tier
    recorded = [sample.record() for sample in samples]
    sync(*(node for nodes in recorded for node in nodes))
    return [[fetch(node) for node in nodes] for nodes in recorded]


@pytest.mark.parametrize("op", SAMPLED, ids=lambda op: op.name)
def test_compiled_equals_reference(op: Op) -> None:
    samples = samples_of(op)
    expected = computed(samples, "interpret")
    actual = computed(samples, "compile")
    assert_all_same(samples, actual, expected)


def assert_all_same(
    samples: list[Sample], actual: list[list[np.ndarray]], expected: list[list[np.ndarray]]
) -> None:
    for sample, left, right in zip(samples, actual, expected, strict=True):
        for node, x, y in zip(sample.record(), left, right, strict=True):
            assert x.dtype == y.dtype == node.type.dtype, sample
            assert x.shape == y.shape == node.type.shape, sample
            with np.errstate(all="ignore"):  # ml_dtypes warns when it compares NaN
                assert_same(x, y, sample)


def assert_same(actual: np.ndarray, expected: np.ndarray, sample: Sample) -> None:
    right = agreement(actual, expected, sample)
    assert np.all(right), report(sample, actual, expected, ~right)


def agreement(actual: np.ndarray, expected: np.ndarray, sample: Sample) -> np.ndarray:
    """Per element, whether the two are as equal as the sample asks."""
    if actual.dtype.kind == "c":
        parts = agreement(actual.real, expected.real, sample)
        parts = parts & agreement(actual.imag, expected.imag, sample)
        if sample.tolerance is None:
            return parts
        return np.where(np.isfinite(expected), close(actual, expected, sample), parts)
    if actual.dtype in FLOATS:
        actual, expected = flush(actual), flush(expected)
    if sample.tolerance is None:
        return identical(actual, expected)
    finite = np.isfinite(expected)
    return np.where(finite, close(actual, expected, sample), identical(actual, expected))


def close(actual: np.ndarray, expected: np.ndarray, sample: Sample) -> np.ndarray:
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    x, y = actual.astype(wide), expected.astype(wide)
    size = np.where(np.isfinite(y), np.abs(y), 0)
    scale = size if sample.each else size.max(initial=0)
    return np.abs(x - y) <= sample.tolerance * scale


def identical(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    nan = expected != expected
    same = (actual == expected) | ((actual != actual) & nan)
    if actual.dtype not in FLOATS:
        return same
    return same & ((np.signbit(actual) == np.signbit(expected)) | nan)


def flush(x: np.ndarray) -> np.ndarray:
    """`x` with zeros for the subnormal numbers that XLA may not see."""
    if x.dtype not in FLUSHED:
        return x
    tiny = np.asarray(2.0**-126 if x.dtype != F64 else 2.0**-1022, x.dtype)
    return np.where(np.abs(x) < tiny, np.copysign(np.zeros((), x.dtype), x), x)


def report(sample: Sample, actual: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> str:
    """Where the two differ, and on what operands."""
    wrong = np.broadcast_to(wrong, np.shape(actual))
    lines = [f"{sample}: {wrong.sum()} of {wrong.size} differ"]
    if Trait.ELEMENTWISE in sample.op.traits:
        operands = [np.broadcast_to(x, wrong.shape)[wrong][:8].tolist() for x in sample.arrays]
        lines.append(f"operands {operands}")
    return "\n".join([*lines, f"got      {actual[wrong][:8]}", f"expected {expected[wrong][:8]}"])


VIEWS = [sample for sample in all_samples() if sample.op in WRITES and sample.view]


@one_in(3)
@pytest.mark.parametrize("sample", VIEWS, ids=str)
@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_views_read_what_was_written(sample: Sample, tier: str) -> None:
    settings.tier = tier
    base, *data = map(ops.leaf, sample.arrays)
    write = WRITES[sample.op]
    view = sample.op(base, *data, **sample.attrs)
    value = ops.leaf(fetch(view)[::-1].copy() if view.type.ndim else fetch(view))
    read = sample.op(write(base, value, *data, **sample.attrs), *data, **sample.attrs)
    unchanged = write(base, view, *data, **sample.attrs)
    sync(read, unchanged)
    assert identical(fetch(read), fetch(value)).all()
    assert identical(fetch(unchanged), sample.arrays[0]).all()


@pytest.mark.parametrize("sample", VIEWS, ids=str)
def test_what_is_shown_of_memory_is_what_is_read(sample: Sample) -> None:
    """And is written, where NumPy has such a view."""
    settings.tier = "interpret"
    memory, *data = (x.copy() for x in sample.arrays)
    begins = tuple(data[0].tolist()) if data else None
    step = view_step(sample.op, begins, tuple(sorted(sample.attrs.items())))
    base, view = ops.leaf(memory.copy()), step.show(memory)
    assert identical(view, fetch(step.read(base))).all()
    if np.may_share_memory(view, memory):
        view[...] = view[::-1].copy() if view.ndim else view
        assert identical(memory, fetch(step.write(base, ops.leaf(view.copy())))).all()


@pytest.mark.parametrize("refusal", all_refusals(), ids=lambda r: f"{r.op.name}-{r.operands}")
def test_wrong_operands_are_refused_while_recording(refusal: Refusal) -> None:
    with pytest.raises(refusal.error, match=f"^{refusal.op.name}: "):
        refusal.op(*map(ops.leaf, refusal.operands), **refusal.attrs)


WHOLE = [op for op in all_ops() if op not in BOOKKEEPING]


@pytest.mark.parametrize("op", WHOLE, ids=lambda op: op.name)
def test_every_op_is_whole(op: Op) -> None:
    """Closed world: documented, sampled, with a reference and a lowering."""
    assert op.__doc__, f"{op.name}: write what the result is"
    assert op in SAMPLED, f"{op.name}: add a sample to tests/ops/samples/"
    if not isinstance(op, Composite):
        assert op in REFERENCES, (
            f"{op.name}: add its reference to lazytensor/core/interpreter/kernels/"
        )
        assert op in LOWERINGS, f"{op.name}: lower it in lazytensor/backends/xla/"
