"""Tensors and arrays of other libraries: shared both ways without a cut, copied by DLPack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import lazytensor.numpy as lnp
from lazytensor import metrics
from lazytensor.torch import as_lazy_numpy, from_lazy

VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "turned": lambda x: x.T,
    "row": lambda x: x[1],
    "column": lambda x: x[:, 1],
    "steps": lambda x: x[::2, 1:3],
    "line": lambda x: x.reshape(-1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_arrays_become_tensors_that_share(name: str) -> None:
    theirs, mine = np.arange(12.0).reshape(3, 4), lnp.arange(12.0).reshape(3, 4)
    metrics.reset()
    expected, tensor = torch.from_numpy(VIEWS[name](theirs)), from_lazy(VIEWS[name](mine))
    for x, base in ((expected, theirs), (tensor, mine)):
        x.mul_(2)
        base[0] += 1
        x.view(x.shape)[0] = 7
    assert metrics.counts["cuts"] == 0
    np.testing.assert_array_equal(np.asarray(mine), theirs)
    assert torch.equal(tensor.cpu(), expected)


@pytest.mark.parametrize("name", VIEWS)
def test_tensors_become_arrays_that_share(name: str) -> None:
    theirs, mine = torch.arange(12.0).view(3, 4), torch.arange(12.0, device="lazytensor").view(3, 4)
    metrics.reset()
    expected, array = VIEWS[name](theirs).numpy(), as_lazy_numpy(VIEWS[name](mine))
    for x, base in ((expected, theirs), (array, mine)):
        x *= 2
        base[0] += 1
        x[0] = 7
    assert metrics.counts["cuts"] == 0
    assert (array.shape, array.strides) == (expected.shape, expected.strides)
    assert torch.equal(mine.cpu(), theirs)
    np.testing.assert_array_equal(np.asarray(array), expected)


def test_one_program_from_numpy_through_torch_and_back() -> None:
    x = lnp.linspace(0.0, 1.0, 100)
    lnp.asarray(x).sum().item()
    metrics.reset()
    weight = torch.full((100,), 2.0, dtype=torch.float64, device="lazytensor")
    made = as_lazy_numpy(torch.relu(from_lazy(x * 3 - 1) * weight)).sum()
    assert metrics.counts["cuts"] == 0
    assert float(made) == pytest.approx(np.maximum((np.linspace(0, 1, 100) * 3 - 1) * 2, 0).sum())
    assert metrics.counts["cuts"] == 1


def test_a_tensor_keeps_what_it_shares_alive_and_ends_sharing_when_it_grows() -> None:
    tensor = from_lazy(lnp.ones(3) + 1)
    assert tensor.tolist() == [2, 2, 2]
    array = as_lazy_numpy(tensor)
    tensor.resize_(4)[0] = 5
    assert array.tolist() == [2, 2, 2]


def test_gradients_flow_through_a_tensor_that_shares() -> None:
    x = from_lazy(lnp.arange(3.0)).requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None
    assert as_lazy_numpy(x.grad).tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="requires grad"):
        as_lazy_numpy(x)
    with pytest.raises(TypeError, match="on the device"):
        as_lazy_numpy(torch.ones(3))
    with pytest.raises(TypeError, match="an array is needed"):
        from_lazy(object())


def test_jax_arrays_are_used_as_they_are_and_never_overwritten() -> None:
    jnp = pytest.importorskip("jax.numpy")
    array = jnp.arange(10_000.0)
    tensor = from_lazy(array)
    tensor.add_(1)
    assert tensor.sum().item() == float(array.sum()) + 10_000
    tensor.mul_(2)
    torch.lazytensor.synchronize()
    assert float(array[3]) == 3.0
    assert float(tensor[3]) == 8.0


def test_capsules_hold_values_on_the_host() -> None:
    tensor = torch.ones(3, device="lazytensor") * 2
    for to_capsule in (torch.to_dlpack, torch.utils.dlpack.to_dlpack):
        found = torch.utils.dlpack.from_dlpack(to_capsule(tensor))
        assert (found.device.type, found.tolist()) == ("cpu", [2, 2, 2])


def test_dlpack_both_ways() -> None:
    tensor = torch.arange(6.0, device="lazytensor").view(2, 3).t()
    expected = np.arange(6.0, dtype=np.float32).reshape(2, 3).T
    np.testing.assert_array_equal(np.from_dlpack(tensor), expected)
    np.testing.assert_array_equal(np.asarray(lnp.from_dlpack(tensor)), expected)
    assert torch.from_dlpack(lnp.ones(3)).to("lazytensor").tolist() == [1, 1, 1]
    jnp = pytest.importorskip("jax.numpy")
    np.testing.assert_array_equal(np.asarray(jnp.from_dlpack(tensor)), expected)
