"""Tensors given as `out=`: torch says of each operation which dtypes it writes into."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, numbers

DTYPES = (torch.float64, torch.int32, torch.int64, torch.bool, torch.uint8, torch.complex64)
ONE: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "abs": lambda x, o: torch.abs(x, out=o),
    "add": lambda x, o: torch.add(x, x, out=o),
    "all": lambda x, o: torch.all(x, out=o),
    "all of bytes": lambda x, o: torch.all(x.to(torch.uint8), out=o),
    "amax": lambda x, o: torch.amax(x, 0, out=o),
    "any of an axis": lambda x, o: torch.any(x, 0, out=o),
    "argmax": lambda x, o: torch.argmax(x, 0, out=o),
    "cumsum": lambda x, o: torch.cumsum(x, 0, out=o),
    "cumprod": lambda x, o: torch.cumprod(x, 0, out=o),
    "eq": lambda x, o: torch.eq(x, x, out=o),
    "floor": lambda x, o: torch.floor(x, out=o),
    "gather": lambda x, o: torch.gather(x, 0, (x * 0).long(), out=o),
    "index_select": lambda x, o: torch.index_select(x, 0, torch.arange(2, device=x.device), out=o),
    "mean": lambda x, o: torch.mean(x, 0, out=o),
    "mm": lambda x, o: torch.mm(x, x, out=o),
    "prod": lambda x, o: torch.prod(x, 0, out=o),
    "searchsorted": lambda x, o: torch.searchsorted(x, x, out=o),
    "sin": lambda x, o: torch.sin(x, out=o),
    "sum": lambda x, o: torch.sum(x, 0, out=o),
    "tril": lambda x, o: torch.tril(x, out=o),
}
TWO: dict[str, Callable[..., object]] = {
    "cummax": torch.cummax,
    "kthvalue": lambda x, _, out: torch.kthvalue(x, 1, out=out),
    "max": torch.max,
    "mode": torch.mode,
    "sort": torch.sort,
    "topk": lambda x, _, out: torch.topk(x, 1, out=out),
}


def outcome(program: Program, device: str) -> object:
    """A program's result, or the class and text of its error."""
    try:
        made = agreement.result(program, device)
    except (RuntimeError, TypeError) as error:
        return type(error), agreement.text(error)
    return [(x.dtype, x.tolist()) for x in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ONE)
def test_a_result_goes_where_torch_lets_it(name: str, dtype: torch.dtype) -> None:
    def program(device: str) -> object:
        return ONE[name](2 * numbers(device, 2, 2), torch.empty(0, dtype=dtype, device=device))

    found = [outcome(program, device) for device in ("lazytensor", "lazytensor", "cpu")]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("dtype", [torch.int32, torch.float64], ids=str)
@pytest.mark.parametrize("name", TWO)
def test_two_results_go_where_torch_lets_them(name: str, dtype: torch.dtype, place: int) -> None:
    def program(device: str) -> object:
        dtypes = [torch.float32, torch.int64]
        dtypes[place] = dtype
        out = tuple(torch.empty(0, dtype=t, device=device) for t in dtypes)
        return tuple(TWO[name](numbers(device, 2, 2), 0, out=out))  # type: ignore[arg-type]

    assert outcome(program, "lazytensor") == outcome(program, "cpu")


@pytest.mark.parametrize("name", ["add", "nonzero", "tril", "where"])
def test_a_result_stays_on_its_device(name: str) -> None:
    x = numbers("lazytensor", 2, 2)
    operands = {"add": (x, x), "where": (x > 0, x, x)}.get(name, (x,))
    out = torch.empty(0, dtype=torch.int64 if name == "nonzero" else x.dtype)
    with pytest.raises(RuntimeError, match="on the same device"):
        getattr(torch, name)(*operands, out=out)
