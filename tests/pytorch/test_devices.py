"""Torch devices with an index: where tensors are, what is computed of them, moves, errors."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import lazytensor.numpy as lnp
import lazytensor.torch
from lazytensor.frontends.torch.native.extension import boxed
from lazytensor.frontends.torch.tensors.tensor import node, placing
from lazytensor.launched import LOCAL_DEVICES
from lazytensor.sharding import sharding_of

needs_kernel = pytest.mark.skipif(boxed is None, reason="torch's kernel is not compiled")
FIRST, SECOND, THIRD = (f"lazytensor:{index}" for index in range(3))


@pytest.fixture(autouse=True)
def _four_devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(LOCAL_DEVICES, "4")
    yield
    placing.clear()


def values(device: str) -> torch.Tensor:
    return torch.arange(12.0).reshape(3, 4).to(device)


def place(x: torch.Tensor) -> int:
    """The number of the device that has the value of `x`."""
    found = sharding_of(x.detach())
    if found is None:
        return 0
    (number,) = found.mesh.devices
    return number


MAKING: dict[str, Callable[[str], torch.Tensor]] = {
    "zeros": lambda device: torch.zeros(3, 4, device=device),
    "empty": lambda device: torch.empty(3, device=device).fill_(2.0),
    "arange": lambda device: torch.arange(6.0, device=device),
    "linspace": lambda device: torch.linspace(0, 1, 5, device=device),
    "eye": lambda device: torch.eye(3, device=device),
    "tensor": lambda device: torch.tensor([1.0, 2.0], device=device),
    "scalar": lambda device: torch.tensor(1.5, device=device),
    "full": lambda device: torch.full((2, 2), 7.0, device=device),
    "strided": lambda device: torch.empty_strided((2, 3), (1, 2), device=device).fill_(1.0),
    "to": lambda device: torch.ones(5).to(device),
    "zeros_like": lambda device: torch.zeros_like(values(device)),
    "zeros_like of another": lambda device: torch.zeros_like(values("cpu"), device=device),
    "new_ones": lambda device: values(device).new_ones(3),
    "one_hot": lambda device: torch.nn.functional.one_hot(torch.arange(3).to(device)).float(),
    "nonzero": lambda device: values(device).nonzero().float(),
    "detach": lambda device: values(device).detach(),
}
CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "add": lambda x: x + 1,
    "add of a scalar tensor": lambda x: x + torch.tensor(2.0),
    "matmul": lambda x: x @ x.T,
    "sum": lambda x: x.sum(),
    "max": lambda x: x.max(),
    "max over an axis": lambda x: x.max(1)[0],
    "view": lambda x: x.view(4, 3)[1:, ::2],
    "in place": lambda x: x.add_(1).mul_(2),
    "write": lambda x: x.index_fill_(0, torch.tensor([1]).to(x.device), 3.0),
    "write to a view": lambda x: (x[1].fill_(5.0), x)[1],
    "out": lambda x: torch.mul(x, 3, out=torch.empty_like(x)),
    "zero_": lambda x: x.zero_() + 1,
    "foreach": lambda x: torch._foreach_add([x, x * 2], 1.0)[1],
    "where": lambda x: torch.where(x > 3, x, -x),
    "softmax": lambda x: torch.softmax(x, -1),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (4,)),
    "cat": lambda x: torch.cat([x, x]),
    "sort": lambda x: x.flatten().sort(descending=True)[0],
    "svd": lambda x: torch.linalg.svdvals(x),
    "contiguous": lambda x: x.T.contiguous(),
    "dtype": lambda x: x.to(torch.float64),
    "on the host": lambda x: torch.ops.aten._histogramdd_from_bin_cts(x[:, :1], [3]),
    "masked": lambda x: x[x > 4],
    "repeated calls": lambda x: [x * 3 - 1 for _ in range(4)][-1],
}


@needs_kernel
@pytest.mark.parametrize("name", MAKING)
@pytest.mark.parametrize("device", [FIRST, SECOND])
def test_what_is_made_there_is_there(name: str, device: str) -> None:
    made = MAKING[name](device)
    assert str(made.device) == device
    assert place(made) == made.device.index
    assert torch.equal(made.cpu(), MAKING[name]("cpu"))


@needs_kernel
@pytest.mark.parametrize("name", CALLS)
def test_results_are_where_the_operands_are(name: str) -> None:
    for device in (SECOND, THIRD, FIRST, SECOND):
        made = CALLS[name](values(device))
        assert str(made.device) == device
        torch.testing.assert_close(made.cpu(), CALLS[name](values("cpu")))
        assert place(made + 0 * values(device).sum()) == made.device.index


@needs_kernel
@pytest.mark.parametrize("start", ["cpu", FIRST, SECOND, THIRD])
@pytest.mark.parametrize("end", ["cpu", FIRST, SECOND, THIRD])
@pytest.mark.parametrize("way", ["to", "copy_"])
def test_any_tensor_moves_to_any_device(start: str, end: str, way: str) -> None:
    x = values(start) * 2
    made = x.to(end) if way == "to" else torch.empty(3, 4, device=end).copy_(x)
    assert str(made.device) == end
    assert str(x.device) == start
    if end != "cpu":
        assert place(made) == made.device.index
    assert torch.equal(made.cpu(), values("cpu") * 2)
    assert torch.equal((x + 1).cpu(), values("cpu") * 2 + 1)


@needs_kernel
def test_a_model_on_two_devices_trains_as_on_one() -> None:
    def trained(first: str, second: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        one, two = torch.nn.Linear(4, 8).to(first), torch.nn.Linear(8, 2).to(second)
        parameters = [*one.parameters(), *two.parameters()]
        optimizer = torch.optim.AdamW(parameters, lr=0.1)
        x = values(first)
        for _ in range(5):
            optimizer.zero_grad()
            loss = two(torch.relu(one(x)).to(second)).pow(2).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
        assert [str(p.device) for p in parameters] == [first] * 2 + [second] * 2
        if first != "cpu":
            assert [place(p) for p in parameters] == [p.device.index for p in parameters]
        return [p.detach().cpu() for p in parameters]

    for found, expected in zip(trained(SECOND, THIRD), trained("cpu", "cpu"), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@needs_kernel
@pytest.mark.parametrize("device", [FIRST, THIRD])
def test_a_compiled_module_is_where_its_parameters_are(device: str) -> None:
    torch.manual_seed(0)
    expected, model = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    model.load_state_dict(expected.state_dict())
    compiled = torch.compile(model.to(device), backend="lazytensor")
    for x, called in ((values("cpu"), expected), (values(device), compiled)):
        (called(x) * torch.ones(3, device=x.device)).sum().backward()
    assert str(model.weight.grad.device) == device
    torch.testing.assert_close(model.weight.grad.cpu(), expected.weight.grad)


@needs_kernel
def test_a_compiled_function_moves_tensors() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).to(THIRD) + 1

    made = torch.compile(function, backend="lazytensor")(values(SECOND))
    assert str(made.device) == THIRD
    assert torch.equal(made.cpu(), values("cpu") * 2 + 1)


@needs_kernel
def test_networks_and_dropout_are_where_their_input_is() -> None:
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(4, 5, num_layers=2)
    expected = lstm(values("cpu")[:, None])[0]
    with torch.no_grad():
        made, (state, _) = lstm.to(SECOND)(values(SECOND)[:, None])
    assert str(made.device) == str(state.device) == SECOND
    torch.testing.assert_close(made.cpu(), expected)
    dropped = torch.nn.functional.dropout(values(SECOND))
    assert str(dropped.device) == SECOND


@needs_kernel
def test_the_current_device_is_where_tensors_are_made() -> None:
    device = torch.lazytensor
    assert (device.device_count(), device.current_device()) == (4, 0)
    with device.device(1):
        assert str(torch.ones(3, device="lazytensor").device) == SECOND
        assert str(torch.ones(3).to("lazytensor").device) == SECOND
        with device.device_of(values(THIRD)):
            assert device.current_device() == 2
        assert torch.accelerator.current_device_index() == 1
    device.set_device(2)
    try:
        assert str(torch.ones(3, device="lazytensor").device) == THIRD
        assert str((values(SECOND) + 1).device) == SECOND
        assert torch.accelerator.device_count() == 4
    finally:
        torch.accelerator.set_device_index(0)
    assert device.current_device() == 0


@needs_kernel
def test_operands_of_two_devices_are_refused_and_nothing_is_lost() -> None:
    x, y = values(SECOND), values(THIRD)
    for call in (lambda: x + y, lambda: torch.cat([x, y]), lambda: x.add_(y), lambda: x @ y.T):
        with pytest.raises(RuntimeError, match=r"same device.* lazytensor:1 and lazytensor:2"):
            call()
    with pytest.raises(RuntimeError, match="lazytensor:1 and cpu!"):
        x + values("cpu")
    assert torch.equal((x + y.to(SECOND)).cpu(), 2 * values("cpu"))


@needs_kernel
def test_copies_of_storages_stay() -> None:
    x = values(SECOND) + 1
    made = copy.deepcopy(x), pickle.loads(pickle.dumps(x))
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    for y in (*made, torch.load(file)["x"]):
        assert (str(y.device), place(y)) == (SECOND, 1)
        assert torch.equal(y.cpu(), x.cpu())
    file.seek(0)
    assert str(torch.load(file, map_location=THIRD)["x"].device) == THIRD


@needs_kernel
def test_an_array_of_another_frontend_brings_its_device() -> None:
    array = lnp.arange(6.0, device=SECOND) + 1
    x = lazytensor.torch.from_lazy(array)
    assert str(x.device) == SECOND
    assert torch.equal((x * 2).cpu(), (torch.arange(6.0).double() + 1) * 2)


@needs_kernel
def test_a_generator_names_its_device() -> None:
    drawn = []
    for device in (FIRST, SECOND):
        generator = torch.Generator(device).manual_seed(3)
        assert str(generator.device) == device
        drawn.append(torch.rand(4, device=device, generator=generator))
    assert str(drawn[1].device) == SECOND
    assert torch.equal(drawn[0].cpu(), drawn[1].cpu())


@needs_kernel
def test_a_shape_that_torch_never_asked_for_before_is_not_put_on_the_first_device() -> None:
    """Plans are learned of calls, each with the current device."""
    for device in (FIRST, SECOND, FIRST, THIRD):
        for _ in range(4):
            made = torch.full((7,), 2.0, device=device) * 3
            assert str(made.device) == device
            assert place(made) == made.device.index


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LOCAL_DEVICES)
    for call in (
        lambda: torch.ones(3, device=SECOND),
        lambda: torch.ones(3).to(SECOND),
        lambda: torch.lazytensor.set_device(1),
    ):
        with pytest.raises(RuntimeError, match="there is one device, lazytensor, and no"):
            call()


@pytest.mark.skipif(boxed is not None, reason="torch's kernel is compiled")
def test_without_the_compiled_kernel_there_is_one_device() -> None:
    with pytest.raises(RuntimeError, match="`lazytensor build` compiles it"):
        torch.ones(3, device=SECOND)


def test_one_device_asks_for_no_places() -> None:
    made = torch.ones(5, device="lazytensor") + 1
    assert not placing
    assert node(made).value is None or place(made) == 0
