"""Storages of the device whose bytes are dropped and come back, as `fully_shard` asks for."""

from __future__ import annotations

import pytest
import torch

from lazytensor.frontends.torch.tensors.tensor import node


def emptied() -> torch.Tensor:
    x = torch.randn(100, 200).to("lazytensor")
    x.untyped_storage().resize_(0)
    return x


def test_an_emptied_storage_has_no_bytes() -> None:
    x = emptied()
    assert x.untyped_storage().size() == 0
    (x.new_ones(3) * 2).sum().item()  # a cut does not make them
    value = node(x).value
    assert value is not None
    assert value.strides == (0, 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize("rows", [slice(None), slice(20, 50)], ids=["all", "a part"])
def test_it_takes_values_again(dtype: torch.dtype, rows: slice) -> None:
    given = torch.arange(20000).reshape(100, 200).to(dtype)
    x = given.to("lazytensor")
    storage, nbytes = x.untyped_storage(), given.nbytes
    storage.resize_(0).resize_(nbytes)
    assert storage.size() == nbytes
    x[rows] = given[rows].to("lazytensor")
    expected = torch.zeros_like(given)
    expected[rows] = given[rows]
    assert torch.equal(x.cpu(), expected)
    assert torch.equal((x + 1).cpu(), expected + 1)


def test_what_was_saved_for_a_gradient_is_read_from_the_new_bytes() -> None:
    weight = torch.randn(4, 3, device="lazytensor", requires_grad=True)
    x = torch.randn(2, 3, device="lazytensor", requires_grad=True)
    y, kept = (x @ weight.T).sum(), weight.detach().clone()
    storage, nbytes = weight.untyped_storage(), weight.nbytes
    storage.resize_(0)
    storage.resize_(nbytes)
    with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(weight):
        weight.copy_(kept)
    y.backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad.cpu(), kept.cpu().sum(0).expand(2, 3))


def test_another_size_is_refused() -> None:
    x = torch.ones(10, device="lazytensor")
    with pytest.raises(RuntimeError, match="expected its size, 40 bytes, or 0"):
        x.untyped_storage().resize_(20)
