"""Tensors without elements: the device gives, or refuses, what the CPU does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.utils._pytree import tree_leaves

import lazytensor.torch  # noqa: F401 -- registers the device

Program = Callable[[torch.Tensor], Any]
INF = float("inf")

NUMBERS: dict[str, Program] = {
    "amax": lambda x: x.amax(),
    "amax of an axis": lambda x: x.amax(0),
    "amin of axes": lambda x: x.amin((0, 1)),
    "max": lambda x: x.max(),
    "max of an axis": lambda x: x.max(0),
    "min of the other": lambda x: x.min(1),
    "argmax": lambda x: x.argmax(),
    "argmin of an axis": lambda x: x.argmin(0),
    "aminmax": lambda x: x.aminmax(dim=0),
    "median": lambda x: x.median(),
    "median of an axis": lambda x: x.median(0),
    "nanmedian of an axis": lambda x: x.nanmedian(0),
    "mode": lambda x: x.mode(0),
    "kthvalue": lambda x: x.kthvalue(1, 0),
    "kthvalue of the other": lambda x: x.kthvalue(4, 1),
    "quantile": lambda x: x.quantile(0.5, 0),
    "topk": lambda x: x.topk(1, 0),
    "sort": lambda x: x.sort(0),
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std(0),
    "prod": lambda x: x.prod(0),
    "all": lambda x: x.all(),
    "cummax": lambda x: x.cummax(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "logsumexp of axes": lambda x: x.logsumexp((0, 1), keepdim=True),
    "logsumexp of the other": lambda x: x.logsumexp(1),
    "logsumexp of complex numbers": lambda x: x.to(torch.complex64).logsumexp(0),
    "softmax": lambda x: x.softmax(0),
    "norm": lambda x: x.norm(),
    "largest norm": lambda x: x.norm(INF),
    "largest norm of an axis": lambda x: torch.linalg.vector_norm(x, INF, dim=0),
    "largest norm of the other": lambda x: torch.linalg.vector_norm(x, INF, dim=1),
    "least norm of axes": lambda x: torch.linalg.vector_norm(x, -INF, dim=(0, 1)),
    "norm -1": lambda x: torch.linalg.vector_norm(x, -1),
    "norm -1 of an axis": lambda x: torch.linalg.vector_norm(x, -1, dim=0),
    "norm 0": lambda x: torch.linalg.vector_norm(x, 0, dim=0),
    "matrix norm": lambda x: torch.linalg.matrix_norm(x, INF),
    "product": lambda x: x @ x.new_ones(3, 2),
    "product over nothing": lambda x: x.T @ x,
    "linear": lambda x: functional.linear(x, x.new_ones(2, 3)),
    "inverse": lambda x: torch.linalg.inv(x.reshape(0, 0)),
    "determinant": lambda x: torch.linalg.det(x.reshape(0, 0)),
    "singular values": lambda x: torch.linalg.svdvals(x),
    "layer_norm": lambda x: functional.layer_norm(x, (3,)),
    "conv1d": lambda x: functional.conv1d(x.reshape(0, 3, 2), x.new_ones(4, 3, 2)),
    "max_pool2d": lambda x: functional.max_pool2d(x.reshape(0, 3, 4, 4), 2),
    "interpolate": lambda x: functional.interpolate(x.reshape(0, 3, 4, 4), scale_factor=2),
    "attention": lambda x: functional.scaled_dot_product_attention(*[x.reshape(0, 2, 3, 4)] * 3),
    "mse_loss": lambda x: functional.mse_loss(x, x),
    "binary_cross_entropy": lambda x: functional.binary_cross_entropy(x, x),
    "cdist": lambda x: torch.cdist(x, x),
    "unique": lambda x: x.unique(),
    "nonzero": lambda x: x.nonzero(),
    "histc": lambda x: torch.histc(x),
    "roll": lambda x: x.roll(1, 0),
    "diff": lambda x: x.diff(dim=0),
    "split": lambda x: x.split(1),
    "item": lambda x: x.item(),
}
"""Of floats, [0, 3]."""

WHOLE: dict[str, Program] = {
    "// 0": lambda x: x // 0,
    "% 0": lambda x: x % 0,
    "fmod": lambda x: torch.fmod(x, 0),
    "truncated": lambda x: torch.div(x, 0, rounding_mode="trunc"),
    "in place": lambda x: x.floor_divide_(0),
    "a negative power": lambda x: x**-1,
    "tril_indices": lambda x: torch.tril_indices(3, 0, device=x.device),
    "triu_indices": lambda x: torch.triu_indices(0, 0, device=x.device),
    "one_hot": lambda x: functional.one_hot(x),
    "bincount": lambda x: torch.bincount(x),
    "embedding": lambda x: functional.embedding(x, torch.ones(3, 2, device=x.device)),
    "cross_entropy": lambda x: functional.cross_entropy(torch.ones(0, 3, device=x.device), x),
    "take": lambda x: torch.ones(3, device=x.device).take(x),
    "gather": lambda x: torch.ones(3, device=x.device).gather(0, x),
    "cat": lambda x: torch.cat([x, torch.ones(2, device=x.device)]),
}
"""Of integers, [0]."""


def outcome(program: Program, x: torch.Tensor) -> Any:
    """Shapes, dtypes and elements of the results; the class and text of an error."""
    try:
        made = tree_leaves(program(x))
    except (RuntimeError, IndexError, ValueError) as error:
        return type(error), str(error)
    return [repr((t.shape, t.dtype, t.tolist()) if torch.is_tensor(t) else t) for t in made]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", NUMBERS | WHOLE)
def test_of_nothing_comes_what_comes_of_it_on_the_cpu(name: str) -> None:
    x = torch.zeros(0, 3) if name in NUMBERS else torch.zeros(0, dtype=torch.int64)
    program = (NUMBERS | WHOLE)[name]
    assert outcome(program, x.to("lazytensor")) == outcome(program, x)


MADE: dict[str, Callable[[str, torch.dtype], Any]] = {
    "empty": lambda d, dtype: torch.empty(2, 3, dtype=dtype, device=d),
    "empty, channels last": lambda d, dtype: torch.empty(
        1, 2, 3, 2, dtype=dtype, device=d, memory_format=torch.channels_last
    ),
    "empty, out": lambda d, dtype: torch.empty(2, 3, out=torch.zeros(1, dtype=dtype, device=d)),
    "empty_like": lambda d, dtype: torch.empty_like(torch.zeros(3, dtype=dtype, device=d)),
    "empty_strided": lambda d, dtype: torch.empty_strided((2, 2), (1, 2), dtype=dtype, device=d),
    "empty_permuted": lambda d, dtype: torch.empty_permuted((2, 3), (1, 0), dtype=dtype, device=d),
    "new_empty": lambda d, dtype: torch.zeros(1, device=d).new_empty((2,), dtype=dtype),
    "zeros": lambda d, dtype: torch.zeros(2, dtype=dtype, device=d),
    "new_zeros": lambda d, dtype: torch.zeros(1, device=d).new_zeros((2,), dtype=dtype),
    "grown": lambda d, dtype: torch.zeros(2, dtype=dtype, device=d).resize_(2, 3),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16, torch.bool], ids=str)
@pytest.mark.parametrize("name", MADE)
def test_nothing_is_written_to_it_but_what_torch_is_told_to(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that has to be deterministic reads NaN, or the largest integer, in such memory."""
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    torch.use_deterministic_algorithms(True)
    try:
        found, wanted = (MADE[name](d, dtype).cpu() for d in ("lazytensor", "cpu"))
    finally:
        torch.use_deterministic_algorithms(False)
    assert found.stride() == wanted.stride()
    assert torch.equal(found.isnan(), wanted.isnan())
    assert torch.equal(found.nan_to_num(), wanted.nan_to_num())


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("shape", [(2, 0, 15), (0, 15), (0, 0, 15)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_a_convolution_of_no_channels(shape: tuple[int, ...], bias: bool) -> None:
    """Torch gives no channels, whatever the kernel has."""
    found = []
    for device in ("cpu", "lazytensor"):
        net = torch.nn.Conv1d(0, 8, 2, stride=2, bias=bias).to(device)
        x = torch.zeros(shape, device=device, requires_grad=True)
        made = net(x)
        made.sum().backward()
        grads = [x.grad, *(p.grad for p in net.parameters())]
        found.append((made.shape, [None if g is None else g.cpu().tolist() for g in grads]))
    assert found[0] == found[1]
