"""NaN, infinities and matrices that cannot be factored: what the CPU's kernels make of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

import lazytensor.torch  # noqa: F401 -- registers the device
from tests.sweeps import one_in

NAN, INF = float("nan"), float("inf")
LINES = [
    [NAN, 2.0, 1.0, 3.0, 0.0, -1.0],
    [2.0, NAN, 1.0, 3.0, -0.0, 7.0],
    [2.0, 1.0, 3.0, -1.0, 0.5, NAN],
    [NAN, 2.0, NAN, 1.0, NAN, -1.0],
    [NAN] * 6,
    [INF, NAN, -INF, 0.5, NAN, 1.0],
    [-INF] * 6,
    [3.0, 1.0, -2.0, 2.0, INF, -INF],
]
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
Function = Callable[[Any], Any]


def square(x: Any) -> Any:
    return torch.stack([x, x.flip(0)])


def slope(function: Function) -> Function:
    def gradient(x: Any) -> Any:
        y = x.clone().requires_grad_()
        made = function(y)
        weights = torch.arange(1, 1 + made.numel(), dtype=made.dtype).view_as(made)
        made.backward(weights.to(y.device))
        return y.grad

    return gradient


def places(x: Any) -> Any:
    return (torch.arange(len(x)) % 2).to(x.device)


def nothing(x: Any) -> Any:
    return torch.zeros(3, device=x.device, dtype=x.dtype)


FUNCTIONS: dict[str, Function] = {
    "sort": lambda x: [x.sort(stable=True), square(x).sort(dim=0, descending=True, stable=True)],
    "argsort": lambda x: x.argsort(stable=True),
    "the largest": lambda x: [x.topk(3)[0], x.topk(2, largest=False)[0]],
    "the k-th": lambda x: [x.kthvalue(2)[0], square(x).kthvalue(1, 0)[0]],
    "median": lambda x: [x.median(), square(x).median(1)[0], square(x).nanmedian(1)[0]],
    "where the extremes are": lambda x: [x.argmax(), square(x).argmin(0)],
    "extremes": lambda x: [x.max(0), x.min(0), x.amax(), torch.aminmax(square(x), dim=0)],
    "of two": lambda x: [torch.maximum(x, x.flip(0)), torch.fmax(x, x.flip(0))],
    "so far": lambda x: [x.cummax(0), square(x).cummin(1)],
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "in a set": lambda x: [torch.isin(x, x), torch.isin(x, torch.cat([x] * 20), invert=True)],
    "in order": lambda x: [torch.searchsorted(x.sort()[0], x, right=r) for r in (False, True)],
    "in no order": lambda x: [torch.searchsorted(x, x.flip(0), right=r) for r in (False, True)],
    "bucketize": lambda x: torch.bucketize(x, x.new_tensor([-1, 0, 1])),
    "clamp": lambda x: [x.clamp(-1, 1), torch.clamp(x, min=x.flip(0)), x.clamp(NAN, 1)],
    "relu": lambda x: [F.relu(x), F.relu6(x), F.leaky_relu(x), F.hardtanh(x), F.threshold(x, 0, 5)],
    "signs": lambda x: [x.sign(), x.sgn(), torch.heaviside(x, x.flip(0))],
    "powers": lambda x: [x.pow(0.5), x.pow(-0.5), x.pow(0), x.pow(-1)],
    "between": lambda x: [torch.lerp(x, x.flip(0), w) for w in (0.25, 0.5, 1.0)],
    "between, by tensors": lambda x: torch.lerp(x, x.flip(0), torch.full_like(x, 0.75)),
    "flags": lambda x: x * (x > 1),
    "pools": lambda x: [
        F.max_pool2d(square(x)[None], 2, 1, 1, return_indices=True),
        F.max_pool1d(x[None], 3, 2, 1, return_indices=True),
        F.adaptive_max_pool2d(square(x)[None], (1, 2), return_indices=True),
    ],
    "scattered": lambda x: [
        nothing(x).scatter_reduce(0, places(x), x, how, include_self=own)
        for how in ("amax", "amin", "prod")
        for own in (True, False)
    ],
    "slope of abs": slope(torch.abs),
    "slope of amax": slope(torch.amax),
    "slope of a root": slope(lambda x: x.pow(0.5)),
    "slope of fmax": slope(lambda x: torch.fmax(x, x.flip(0).detach())),
    "slope of clamp": slope(lambda x: x.clamp(-1, 1)),
    "slope of a norm": slope(lambda x: torch.linalg.vector_norm(x, INF)),
    "to integers": lambda x: [x.to(torch.int32), x.to(torch.int64), x.to(torch.bool)],
}
ROUNDED = ("slope of a root",)
"""Of halves torch's kernels round in the middle."""

_good = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], dtype=torch.float64)
_singular = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]], dtype=torch.float64)


def with_one(value: float, row: int, column: int) -> torch.Tensor:
    made = _good.clone()
    made[row, column] = value
    return made


MATRICES = {
    "negative": -_good,
    "the third minor is": with_one(-9.0, 2, 2),
    "the second minor is": with_one(-9.0, 1, 1),
    "singular": _singular,
    "zero": torch.zeros(3, 3, dtype=torch.float64),
    "NaN in the middle": with_one(NAN, 1, 1),
    "NaN at the end": with_one(NAN, 2, 2),
    "NaN below": with_one(NAN, 2, 0),
    "NaN above": with_one(NAN, 0, 2),
    "several": torch.stack([_good, -_good, _good, with_one(-9.0, 2, 2)]),
    "one is singular": torch.stack([_good, _singular]),
    "one is NaN": torch.stack([_good, with_one(NAN, 2, 2)]),
    "complex": -_good.to(torch.complex128),
}
LINEAR: dict[str, Function] = {
    "cholesky": torch.linalg.cholesky,
    "upper": lambda m: torch.linalg.cholesky(m, upper=True),
    "info of cholesky": lambda m: torch.linalg.cholesky_ex(m)[1],
    "info of upper": lambda m: torch.linalg.cholesky_ex(m, upper=True)[1],
    "cholesky, checked": lambda m: torch.linalg.cholesky_ex(m, check_errors=True),
    "the old cholesky": torch.cholesky,
    "info of an inverse": lambda m: torch.linalg.inv_ex(m)[1],
    "an inverse, checked": lambda m: torch.linalg.inv_ex(m, check_errors=True)[1],
    "info of a solution": lambda m: torch.linalg.solve_ex(m, m)[1],
    "a solution, checked": lambda m: torch.linalg.solve_ex(m, m, check_errors=True)[1],
    "info of lu": lambda m: torch.linalg.lu_factor_ex(m)[2],
    "lu, checked": lambda m: torch.linalg.lu_factor_ex(m, check_errors=True)[2],
    "singular values": torch.linalg.svdvals,
    "svd": lambda m: torch.linalg.svd(m)[1],
    "eigenvalues": torch.linalg.eigvalsh,
    "of the upper half": lambda m: torch.linalg.eigvalsh(m, UPLO="U"),
    "eigenvectors": lambda m: torch.linalg.eigh(m)[0],
    "of any matrix": lambda m: torch.linalg.eig(m)[0].abs().sort()[0],
    "a pseudoinverse": torch.linalg.pinv,
    "rank": torch.linalg.matrix_rank,
    "sign of det": torch.linalg.slogdet,
    "an inverse by cholesky": lambda m: torch.cholesky_inverse(m.tril()).isnan().any(),
}  # fmt: skip


def outcome(function: Function, x: torch.Tensor, device: str) -> Any:
    """The result, or the class and the first words of the error."""
    try:
        made = tree_leaves(function(x.to(device)))
        return [t.detach().cpu() for t in made]
    except (RuntimeError, torch.linalg.LinAlgError) as error:
        text = str(error).replace("lazytensor", "cpu").split(" (recorded")[0]
        # Which of a batch, or which element, is looked for only where torch waits for values.
        for words in (" (error code", " The diagonal", " a diagonal"):
            text = text.split(words)[0].rstrip(".")
        return type(error), text.replace(" (Batch element 1):", "")


def agree(found: Any, expected: Any, apart: float) -> None:
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, tuple):
        assert found == expected
        return
    for x, y in zip(found, expected, strict=True):
        torch.testing.assert_close(x, y, rtol=apart, atol=apart, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_numbers_and_none_it_makes_what_the_cpu_makes(name: str, tier: str) -> None:
    function = FUNCTIONS[name]
    for i, dtype in enumerate(DTYPES if tier == "interpret" else DTYPES[:1]):
        for line in LINES[:: 1 + 2 * (i > 0)]:
            x = torch.tensor(line, dtype=dtype)
            if i > 1 and name in ROUNDED:
                continue
            expected, found = (outcome(function, x, device) for device in ("cpu", "lazytensor"))
            agree(found, expected, (1e-5, 1e-9, 2e-2, 5e-2)[i])


@one_in(2)
@pytest.mark.parametrize("name", LINEAR)
def test_of_bad_matrices_it_makes_what_the_cpu_makes(name: str, tier: str) -> None:
    function = LINEAR[name]
    for matrix in list(MATRICES.values())[:: 1 if tier == "interpret" else 2]:
        expected, found = (outcome(function, matrix, device) for device in ("cpu", "lazytensor"))
        agree(found, expected, 1e-9)
