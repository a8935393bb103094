"""Copies of tensors: deep ones, pickles, files, storages, data loaders."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from lazytensor.frontends.torch.tensors.tensor import node
from tests.pytorch import agreement
from tests.pytorch.agreement import net, numbers


def saved(x: Any, **options: Any) -> Any:
    buffer = io.BytesIO()
    torch.save(x, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


def where(x: Any, device: str) -> list[bool]:
    return [y.device.type == device for y in torch.utils._pytree.tree_leaves(x)]


def views_stay_views(copied: Any, device: str) -> Any:
    base, turned, part = copied
    base.zero_()
    return copied, turned.stride(), part.storage_offset(), where(copied, device)


def family(device: str) -> list[torch.Tensor]:
    base = numbers(device, 3, 4)
    return [base, base.t(), base[1:, 2]]


def with_gradient(device: str) -> Any:
    x = numbers(device, 3, grad=True)
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    return y, y.grad, y.requires_grad


def optimizer_state(device: str) -> Any:
    model = net(device)
    optimizer = torch.optim.AdamW(model.parameters())
    model(numbers(device, 2, 4)).sum().backward()
    optimizer.step()
    again = torch.optim.AdamW(model.parameters())
    again.load_state_dict(saved(optimizer.state_dict()))
    again.step()
    return list(model.parameters())


def storage_of(device: str) -> Any:
    x = numbers(device, 3, 2)
    storage = x.untyped_storage()
    y = torch.empty(0, device=device).set_(storage, 1, (2,), (2,))
    y.add_(1)
    sizes = storage.nbytes(), storage.size(), len(storage), x.nbytes, x.storage().size()
    return sizes, list(storage)[:8], x, y, x.is_set_to(x.view(3, 2)), storage.cpu().tolist()


def reinterpreted(device: str) -> Any:
    x = numbers(device, 4)
    x.view(torch.int32)[0] = 0
    return x, x.view(torch.uint8), x.view(2, 2).view(torch.float64)


PROGRAMS: dict[str, agreement.Program] = {
    "deepcopy": lambda d: views_stay_views(copy.deepcopy(family(d)), d),
    "deepcopy of a gradient": with_gradient,
    "deepcopy of twins": lambda d: len(
        set(map(id, copy.deepcopy([nn.Parameter(numbers(d, 3))] * 2)))
    ),
    "pickle": lambda d: views_stay_views(pickle.loads(pickle.dumps(family(d))), d),
    "pickle of a parameter": lambda d: pickle.loads(pickle.dumps(nn.Parameter(numbers(d, 3)))),
    "save": lambda d: views_stay_views(saved(family(d)), d),
    "save of dtypes": lambda d: saved(
        [numbers(d, 3).to(dtype) for dtype in (torch.bfloat16, torch.int32, torch.bool)]
    ),
    "state_dict": lambda d: net(d).load_state_dict(saved(net(d).state_dict())) and None,
    "to the CPU": lambda d: where(saved(net(d).state_dict(), map_location="cpu"), "cpu"),
    "from the CPU": lambda d: (lambda x: (x, where(x, d)))(
        saved(net("cpu").state_dict(), map_location=d)
    ),
    "an optimizer's": optimizer_state,
    "storage": storage_of,
    "storage of nothing": lambda d: [
        (s.device.type == d, s.nbytes(), s.tolist() if s.nbytes() == 3 else None)
        for s in (torch.UntypedStorage(*x, device=d) for x in ([], [5], [[1, 2, 3]]))
    ],
    "tensor of a storage": lambda d: torch.empty(0, dtype=torch.uint8, device=d).set_(
        torch.UntypedStorage([1, 2, 3], device=d)
    ),
    "numbers": lambda d: [
        numbers(d, 2).to(dtype).copy_(value)
        for dtype in (torch.float32, torch.float16, torch.bool, torch.int32)
        for value in (2, 2.5, float("inf"), True)
        if not (value == float("inf") and dtype is torch.int32)  # C++ does not define it
    ],
    "reinterpreted": reinterpreted,
    "new": lambda d: (numbers(d, 3).new_tensor([1.0]), numbers(d, 3).new_zeros(2)),
    "default device": lambda d: where([torch.ones(2, device=torch.device(d))], d),
    "channels last": lambda d: (lambda x: (x.stride(), (x * 2).stride(), x.contiguous().stride()))(
        numbers(d, 2, 3, 4, 5).to(memory_format=torch.channels_last)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_what_it_gives_on_the_cpu(name: str) -> None:
    agreement.check(PROGRAMS[name])


def test_parameters_from_a_file_are_kept_as_they_are_used() -> None:
    """Not as bytes that each program would have to read as floats."""
    loaded = saved(numbers("lazytensor", 3, 4))
    assert node(loaded).value is not None
    assert node(loaded).type == node(numbers("lazytensor", 3, 4)).type


class Rows(Dataset[Any]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, place: int) -> Any:
        return torch.full((2,), float(place))


@pytest.mark.filterwarnings("ignore:.*fork.*")  # jax has threads; the workers never use it
@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("pinned", [False, True])
def test_batches_of_a_loader_go_to_the_device(workers: int, pinned: bool) -> None:
    loader = DataLoader(Rows(), 4, num_workers=workers, pin_memory=pinned)
    found = [batch.to("lazytensor", non_blocking=True) * 2 for batch in loader]
    assert [x[:, 0].tolist() for x in found] == [[0, 2, 4, 6], [8, 10, 12, 14]]
