"""The device: registration, copies both ways, printing, creation, views, in-place, errors."""

import copy
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import lazytensor.torch
from lazytensor import metrics
from tests.core.processes import run

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
]  # fmt: skip


def lazy(x: torch.Tensor) -> torch.Tensor:
    return x.to("lazytensor")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)], ids=str)
def test_what_goes_to_the_device_comes_back(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = torch.testing.make_tensor(shape, dtype=dtype, device="cpu", low=-5, high=5)
    there = lazy(x)
    assert there.device == torch.device("lazytensor", 0)
    assert there.dtype == dtype
    assert there.shape == shape
    assert torch.equal(there.cpu(), x)
    words = [str(t).replace("device='lazytensor:0'", "").split() for t in (there, x)]
    assert [w.strip(",)") for w in words[0] if w.strip(",)")] == [w.strip(",)") for w in words[1]]


def test_data_of_the_host_is_copied() -> None:
    x = torch.zeros(3)
    there = lazy(x)
    x += 1
    assert there.tolist() == [0, 0, 0]
    there.cpu().add_(1)
    assert there.tolist() == [0, 0, 0]


CREATED: list[Callable[[str], torch.Tensor]] = [
    lambda d: torch.zeros(2, 3, device=d),
    lambda d: torch.ones(2, dtype=torch.int32, device=d),
    lambda d: torch.full((2,), 3, device=d),
    lambda d: torch.full((2,), 3.5, device=d),
    lambda d: torch.arange(5, device=d),
    lambda d: torch.arange(1, 2, 0.25, device=d),
    lambda d: torch.eye(2, 3, device=d),
    lambda d: torch.tensor([[1.0, 2.0]], device=d),
    lambda d: torch.linspace(0, 1, 5, device=d),
    lambda d: torch.empty(2, 2, device=d).fill_(7),
    lambda d: torch.zeros_like(torch.ones(2, device=d)),
    lambda d: torch.ones(2, device=d).new_full((3,), 2),
    lambda d: torch.tril(torch.ones(3, 3, device=d)),
]


@pytest.mark.parametrize("make", CREATED)
def test_creation(make: Callable[[str], torch.Tensor]) -> None:
    before = metrics.counts["fallbacks"]
    torch.testing.assert_close(make("lazytensor").cpu(), make("cpu"))
    assert metrics.counts["fallbacks"] == before


VIEWS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda x: x.view(12),
    lambda x: x.t(),
    lambda x: x.transpose(0, 1),
    lambda x: x.permute(1, 0),
    lambda x: x[1],
    lambda x: x[:, 1],
    lambda x: x[1:, ::2],
    lambda x: x.unsqueeze(1),
    lambda x: x[None].squeeze(0),
    lambda x: x.diagonal(),
    lambda x: x.split(2, 1)[1],
    lambda x: x.chunk(2)[1],
    lambda x: x.unbind(1)[2],
    lambda x: x.narrow(1, 1, 2),
    lambda x: x.view(torch.int32),
    lambda x: x.as_strided((2, 2), (4, 1), 1),
    lambda x: x.detach(),
    lambda x: x.t()[1:].unsqueeze(0)[..., 0],
]


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_written_through_both_ways(
    view: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    shown = []
    for device in ("cpu", "lazytensor"):
        base = torch.arange(12.0).view(3, 4).to(device)
        seen = view(base)
        seen.mul_(3)
        base[0].add_(1)
        seen.copy_(seen + 1)
        shown.append((base.cpu(), seen.cpu()))
    for theirs, ours in zip(*shown, strict=True):
        assert torch.equal(theirs, ours)


def test_the_gradient_of_a_write_through_a_view_lands_where_it_was_written() -> None:
    gradients = []
    for device in ("cpu", "lazytensor"):
        x = torch.arange(12.0, device=device).view(3, 4).clone().requires_grad_()
        y = x * 1.0
        y[1].mul_(2)
        y[:, 2] = y[:, 0] * 3
        (y * y).sum().backward()
        assert x.grad is not None
        gradients.append(x.grad.cpu())
    assert torch.equal(*gradients)


ERRORS: list[Callable[[Any], Any]] = [
    lambda x: x + torch.zeros(5, device=x.device),
    lambda x: x @ x,
    lambda x: x[7],
    lambda x: x.view(5, -1),
    lambda x: x.sum(3),
    lambda x: x.add_(torch.zeros(2, 3, 4, device=x.device)),
    lambda x: x.int().add_(1.5),
    lambda x: torch.cat([x, x[0]]),
    lambda x: torch.stack([x, x[0]]),
    lambda x: x.expand(2, 4),
    lambda x: x.requires_grad_().add_(1),
    lambda x: x[:1].expand(3, 4).add_(1),
    lambda x: x.int().mean(),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_of_torchs_class_and_raised_at_once(call: Callable[[Any], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError)) as theirs:
        call(torch.ones(3, 4))
    with pytest.raises(theirs.type):
        call(torch.ones(3, 4, device="lazytensor"))


def test_promotion_is_torchs() -> None:
    # XLA has no complex numbers of two f16.
    wider = {torch.complex32: torch.complex64}
    numbers: list[Any] = [True, 2, 2.5, 1j]
    tensors = [torch.ones(shape, dtype=dtype) for dtype in DTYPES for shape in ((), (2,))]
    for x in tensors:
        for other in [*tensors, *numbers]:
            expected = torch.result_type(x, other)
            made = torch.mul(lazy(x), lazy(other) if isinstance(other, torch.Tensor) else other)
            assert made.dtype == wider.get(expected, expected), (x, other)


def test_random_numbers_repeat_under_a_seed_and_differ_from_call_to_call() -> None:
    torch.manual_seed(5)
    first, second = (torch.rand(1000, device="lazytensor") for _ in range(2))
    torch.manual_seed(5)
    assert torch.equal(torch.rand(1000, device="lazytensor").cpu(), first.cpu())
    assert not torch.equal(first.cpu(), second.cpu())
    normal = torch.randn(100_000, device="lazytensor").cpu()
    assert abs(normal.mean()) < 0.02
    assert abs(normal.std() - 1) < 0.02
    assert torch.randint(3, (1000,), device="lazytensor").cpu().unique().tolist() == [0, 1, 2]


def test_what_has_no_row_is_computed_on_the_cpu_loudly() -> None:
    x = torch.rand(3, 3)
    before = metrics.counts["fallbacks"]
    with pytest.warns(lazytensor.LazyTensorWarning, match="is not lazy yet"):
        made, tau = torch.geqrf(lazy(x))
    assert metrics.counts["fallbacks"] == before + 1
    assert made.device.type == "lazytensor"
    torch.testing.assert_close((made.cpu(), tau.cpu()), tuple(torch.geqrf(x)))


def test_saving_copying_and_the_module() -> None:
    model = torch.nn.Linear(3, 2).to("lazytensor")
    twin = copy.deepcopy(model)
    assert torch.equal(twin.weight.cpu(), model.weight.cpu())
    buffer = io.BytesIO()
    torch.save({name: x.cpu() for name, x in model.state_dict().items()}, buffer)
    buffer.seek(0)
    twin.load_state_dict(torch.load(buffer))
    assert torch.equal(twin.bias.cpu(), model.bias.cpu())
    assert torch.lazytensor.is_available()
    assert torch.lazytensor.device_count() == 1


def test_the_module_answers_as_other_devices_modules_do() -> None:
    device = torch.lazytensor
    x = torch.ones(1 << 16, device="lazytensor") + 1
    torch.lazytensor.synchronize()
    before = device.memory_allocated()
    y = x * 2
    assert device.memory_allocated() <= before
    device.synchronize()
    assert y[0].item() == 4
    assert device.get_device_properties().total_memory > 0
    assert device.current_device() == 0
    with device.device(0), device.device_of(x):
        device.empty_cache()
    with pytest.raises(RuntimeError, match="there is one device, lazytensor"):
        device.set_device(3)
    assert torch.accelerator.current_accelerator().type == "lazytensor"
    assert device.get_rng_state_all()[0].dtype == torch.uint8


def test_torchs_accelerator_counts_the_devices_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "tier", "compile")
    accelerator = torch.accelerator
    torch.lazytensor.synchronize()
    accelerator.reset_peak_memory_stats()
    before = accelerator.memory_allocated()
    x = torch.ones(1 << 16, device="lazytensor") + 1
    torch.lazytensor.synchronize()
    held = accelerator.memory_allocated()
    assert held - before >= x.nbytes
    del x
    assert accelerator.memory_allocated() <= held - (1 << 18)
    assert accelerator.max_memory_allocated() >= held
    assert accelerator.memory_stats()["allocated_bytes.all.peak"] >= held
    free, total = accelerator.get_memory_info()
    assert 0 < free <= total
    accelerator.reset_peak_memory_stats()
    assert accelerator.max_memory_allocated() < held
    accelerator.empty_cache()


def test_importing_it_imports_neither_jax_nor_another_frontend() -> None:
    program = """
        import sys
        import lazytensor.torch
        import torch
        x = torch.arange(4.0, device="lazytensor").requires_grad_()
        (x * x).sum().backward()
        print(x.grad.tolist())
        print([m for m in ("jax", "jaxlib", "lazytensor.frontends.numpy") if m in sys.modules])
    """
    assert run(program).stdout.splitlines() == ["[0.0, 2.0, 4.0, 6.0]", "[]"]


def test_values_agree_with_what_numpy_sees() -> None:
    x = torch.arange(6.0, device="lazytensor").view(2, 3).t()
    np.testing.assert_array_equal(x.cpu().numpy(), np.arange(6.0).reshape(2, 3).T)
