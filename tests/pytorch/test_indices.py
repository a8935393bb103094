"""Indices and masks: what torch refuses of them, and warns of."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, check, numbers


def whole(device: str, *values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64, device=device)


def bytes_(device: str, *values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.uint8, device=device)


def written(x: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
    x[index] = value
    return x


AT_ONCE: dict[str, Program] = {
    "a tensor of the host's": lambda d: numbers(d, 4)[whole(d, 0, 4)],
    "counted from the end": lambda d: numbers(d, 4)[whole(d, -5)],
    "a list": lambda d: numbers(d, 4)[[1, 9]],
    "the second axis": lambda d: numbers(d, 4, 3)[:, [3, 0]],
    "written to": lambda d: written(numbers(d, 4), whole(d, 7), 0.0),
    "an axis of nothing": lambda d: torch.ones(4, 0, device=d)[:, [0, 1]],
    "computed, an axis of nothing": lambda d: torch.ones(4, 0, device=d)[:, whole(d, 0) + 1],
    "values of another size and dtype": lambda d: written(
        torch.arange(4, device=d), torch.arange(4, device=d) > -1, numbers(d, 3)
    ),
    "a number at a mask of bytes": lambda d: written(numbers(d, 3), bytes_(d, 1, 0, 1), 5.0),
    "one value at a mask of bytes": lambda d: written(
        numbers(d, 3, 2), bytes_(d, 1, 0, 1), numbers(d, 1)
    ),
    "values of another dtype": lambda d: written(
        torch.arange(4, device=d), torch.arange(4, device=d) > 1, numbers(d, 2)
    ),
}
BYTES: dict[str, Program] = {
    "read": lambda d: numbers(d, 3)[bytes_(d, 1, 0, 1)],
    "read by two": lambda d: numbers(d, 3, 2)[bytes_(d, 1, 0, 0), bytes_(d, 1, 1)],
    "written to by lines": lambda d: written(numbers(d, 3, 2), bytes_(d, 1, 0, 1), numbers(d, 2)),
    "added to": lambda d: numbers(d, 3).index_put_((bytes_(d, 1, 0, 1),), numbers(d, 1), True),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_the_host_knows_of_indices_is_raised_at_once(name: str) -> None:
    program = AT_ONCE[name]
    assert agreement.raised(program, "lazytensor") == agreement.raised(program, "cpu")


def test_what_is_computed_is_checked_when_it_is_looked_at() -> None:
    found = numbers("lazytensor", 4)[whole("lazytensor", 3) + 1]
    with pytest.raises(IndexError, match="out of range"):
        found.cpu()


def texts(program: Program, device: str) -> list[str]:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        program(device)
    return [str(w.message).partition(" (Triggered")[0] for w in given]


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_bytes_are_masks_with_torchs_warning(name: str) -> None:
    check(BYTES[name])
    assert texts(BYTES[name], "lazytensor") == texts(BYTES[name], "cpu")


def test_addresses_tell_elements_apart() -> None:
    x = numbers("lazytensor", 3, 4)
    shown = x[1:, 2:]
    assert x.data_ptr() == x.view(-1).data_ptr() == x.untyped_storage().data_ptr()
    assert shown.data_ptr() - x.data_ptr() == shown.storage_offset() * x.itemsize
    copies = x.clone(), shown.reshape(-1)
    assert len({x.data_ptr(), *(y.data_ptr() for y in copies)}) == 3
    assert torch.empty(0, device="lazytensor").data_ptr() == 0
