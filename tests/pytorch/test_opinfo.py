"""Torch's own table of operations: a subset in every run, the whole of it by `make test-all`."""

from typing import Any

import pytest
import torch

from lazytensor.core.settings import settings
from tests.pytorch import gaps, opinfo
from tests.pytorch.derivatives import DERIVATIVES
from tests.pytorch.variants import CHECKS
from tests.sweeps import WHOLE

QUICK = [
    "add", "sub", "mul", "div", "pow", "exp", "tanh", "sum", "mean", "amax", "argmax", "cumsum",
    "sort", "topk", "matmul", "bmm", "addmm", "cat", "stack", "gather", "index_select",
    "index_put", "scatter_add", "where", "clamp", "masked_fill", "transpose", "permute",
    "narrow", "unfold", "expand", "diagonal_scatter", "softmax", "log_softmax",
    "nn.functional.gelu", "nn.functional.layer_norm", "nn.functional.linear",
    "nn.functional.conv2d", "nn.functional.conv_transpose2d", "nn.functional.max_pool2d",
    "nn.functional.avg_pool2d", "nn.functional.cross_entropy", "nn.functional.nll_loss",
    "nn.functional.mse_loss", "nn.functional.interpolate", "linalg.svd", "linalg.qr",
    "fft.fft2", "fft.irfftn", "var", "std", "native_layer_norm", "special.airy_ai", "hash_tensor",
]  # fmt: skip

DIFFERENTIATED = [
    "mul", "matmul", "cumsum", "sort", "index_select", "linalg.solve", "linalg.det",
    "nn.functional.batch_norm", "nn.functional.layer_norm", "nn.functional.grid_sample",
    "nn.functional.embedding_bag", "nn.functional.conv_transpose2d",
]  # fmt: skip
WRITTEN = ["add", "cumsum", "sort", "matmul", "linalg.inv", "nn.functional.linear", "tril", "roll"]


def quick() -> list[Any]:
    return [op for op in opinfo.entries() if op.name in QUICK and not op.variant_test_name]


@pytest.mark.parametrize("op", quick(), ids=opinfo.name_of)
def test_quick(op: Any) -> None:
    assert opinfo.outcome(op, 4)[1:3] == ("pass", "")


def named(names: list[str], dtype: torch.dtype) -> list[Any]:
    return [op for op in opinfo.entries(dtype) if op.name in names and not op.variant_test_name]


@pytest.mark.parametrize("op", named(DIFFERENTIATED, torch.float64), ids=opinfo.name_of)
def test_quick_gradients(op: Any) -> None:
    found = opinfo.outcome(op, 2, torch.float64, CHECKS["gradient"])
    assert found[1:3] == ("pass", "")


@pytest.mark.parametrize("op", quick(), ids=opinfo.name_of)
def test_quick_again(op: Any) -> None:
    assert opinfo.outcome(op, 2, check=CHECKS["again"])[1:3] == ("pass", "")


@pytest.mark.parametrize("check", ["in-place", "out"])
@pytest.mark.parametrize("op", named(WRITTEN, torch.float32), ids=opinfo.name_of)
def test_quick_variants(op: Any, check: str) -> None:
    assert opinfo.outcome(op, 2, torch.float32, CHECKS[check])[1:3] == ("pass", "")


@pytest.mark.parametrize("check", DERIVATIVES)
@pytest.mark.parametrize(
    "op", named(["mul", "sigmoid", "cumsum"], torch.float64), ids=opinfo.name_of
)
def test_quick_derivatives(op: Any, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    assert opinfo.outcome(op, 1, torch.float64, CHECKS[check])[1:3] == ("pass", "")


@pytest.mark.parametrize(
    "op", named(["transpose", "narrow", "add"], torch.float32), ids=opinfo.name_of
)
def test_quick_views(op: Any) -> None:
    assert opinfo.outcome(op, 2, torch.float32, CHECKS["views"])[1:3] == ("pass", "")


@pytest.mark.parametrize("run", gaps.RUNS, ids="-".join)
def test_gaps_are_of_entries(run: tuple[str, str]) -> None:
    names = {opinfo.name_of(op) for dtype in opinfo.DTYPES.values() for op in opinfo.entries(dtype)}
    assert gaps.expected("-".join(run)).keys() <= names


@pytest.mark.skipif(not WHOLE, reason="takes minutes; HYPOTHESIS_PROFILE=nightly runs it")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("run", gaps.RUNS, ids="-".join)
def test_whole(run: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the gaps does not pass, and every gap is one. Interpreted: to compile each sample
    takes hours, and the lowerings have tests of their own."""
    monkeypatch.setattr(settings, "tier", "interpret")
    dtype, check = opinfo.DTYPES[run[0]], CHECKS.get(run[1])
    samples = gaps.FEWER.get(run[1], opinfo.SAMPLES)
    found = [opinfo.outcome(op, samples, dtype, check) for op in opinfo.entries(dtype)]
    names = {outcome.name for outcome in found}
    wanted = {name: how for name, how in gaps.expected("-".join(run)).items() if name in names}
    assert {outcome.name: outcome.how for outcome in found if outcome.how != "pass"} == wanted
