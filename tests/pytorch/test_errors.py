"""What is wrong is refused at the call, by torch's class of error and in its words."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.pytorch import agreement
from tests.pytorch.agreement import net, numbers


def places(device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(3, dtype=dtype, device=device)


def written_after_it_was_saved(device: str) -> None:
    y = numbers(device, 3, 2, grad=True).exp()
    y[0].mul_(2)
    y.sum().backward()


def one_of_several_views(device: str) -> None:
    (numbers(device, 3, 2, grad=True) * 1).unbind()[0].mul_(2)


def view_without_gradients(device: str) -> None:
    x = numbers(device, 3, 2, grad=True) * 1
    with torch.no_grad():
        view = x[0]
    view.mul_(2)


def inference(device: str) -> None:
    with torch.inference_mode():
        y = numbers(device, 3)
    (y * numbers(device, 3, grad=True)).sum().backward()


def element_of_a_leaf(device: str) -> None:
    numbers(device, 3, grad=True)[0] = 1


DTYPES: dict[str, agreement.Program] = {
    "matrices": lambda d: numbers(d, 3, 3) @ numbers(d, 3, 3).double(),
    "linear": lambda d: functional.linear(numbers(d, 3, 3), numbers(d, 3, 3).double()),
    "convolution": lambda d: functional.conv2d(
        numbers(d, 1, 3, 4, 4), numbers(d, 2, 3, 3, 3).double()
    ),
    "integers with gradients": lambda d: torch.ones(
        3, dtype=torch.int64, device=d, requires_grad=True
    ),
    "mean of integers": lambda d: places(d, torch.int64).mean(),
    "in place, of a lower kind": lambda d: places(d, torch.int32).mul_(1.5),
    "scatter": lambda d: numbers(d, 3).scatter(0, places(d).long(), numbers(d, 3).double()),
    "a mask": lambda d: numbers(d, 3).masked_fill(places(d), 0.0),
    "classes": lambda d: functional.cross_entropy(numbers(d, 3, 4), places(d, torch.int32)),
    "an index": lambda d: numbers(d, 3)[places(d)],
    "a short index": lambda d: numbers(d, 3)[places(d, torch.int16)],
    "gather": lambda d: numbers(d, 3).gather(0, places(d)),
    "scatter_add": lambda d: numbers(d, 3).scatter_add(0, places(d), numbers(d, 3)),
    "index_select": lambda d: numbers(d, 3).index_select(0, places(d)),
    "index_add": lambda d: numbers(d, 3).index_add(0, places(d), numbers(d, 3)),
    "index_copy": lambda d: numbers(d, 3).index_copy(0, places(d), numbers(d, 3)),
    "index_fill": lambda d: numbers(d, 3).index_fill(0, places(d), 1.0),
    "index_put": lambda d: numbers(d, 3).index_put((places(d),), numbers(d, 3)),
    "put": lambda d: numbers(d, 3).put(places(d), numbers(d, 3)),
    "embedding": lambda d: functional.embedding(places(d), numbers(d, 3, 3)),
    "embedding_bag": lambda d: functional.embedding_bag(places(d)[None], numbers(d, 3, 3)),
}

SHAPES: dict[str, agreement.Program] = {
    "channels": lambda d: functional.conv2d(numbers(d, 1, 3, 4, 4), numbers(d, 2, 2, 3, 3)),
    "a gradient": lambda d: (numbers(d, 3, grad=True) * 2).backward(numbers(d, 4)),
    "reshape": lambda d: numbers(d, 3).reshape(2, 2),
    "an axis": lambda d: numbers(d, 3).unsqueeze(3),
    "stack": lambda d: torch.stack([numbers(d, 3), numbers(d, 4)]),
    "split": lambda d: numbers(d, 3).split([1, 1]),
    "bmm": lambda d: torch.bmm(numbers(d, 2, 3, 4), numbers(d, 2, 3, 4)),
    "layer_norm": lambda d: functional.layer_norm(numbers(d, 3, 4), (3,)),
    "batch_norm": lambda d: functional.batch_norm(numbers(d, 1, 3), None, None, training=True),
    "cholesky": lambda d: torch.linalg.cholesky(numbers(d, 3, 4)),
    "a state": lambda d: net(d).load_state_dict({}),
}

GRADIENTS: dict[str, agreement.Program] = {
    "written after it was saved": written_after_it_was_saved,
    "one of several views": one_of_several_views,
    "a view without gradients": view_without_gradients,
    "inference": inference,
    "an element of a leaf": element_of_a_leaf,
    "unused": lambda d: torch.autograd.grad(
        numbers(d, 3, grad=True).sum(), numbers(d, 3, grad=True)
    ),
    "a singular matrix": lambda d: torch.linalg.inv(torch.zeros(2, 2, device=d)).tolist(),
}

ERRORS = {
    f"{kind}: {name}": program
    for kind, table in {"dtypes": DTYPES, "shapes": SHAPES, "gradients": GRADIENTS}.items()
    for name, program in table.items()
}


@pytest.mark.parametrize("name", ERRORS)
def test_it_raises_what_it_raises_on_the_cpu(name: str) -> None:
    assert agreement.raised(ERRORS[name], "lazytensor") == agreement.raised(ERRORS[name], "cpu")


MIXED: dict[str, Any] = {
    "add": torch.add,
    "matmul": torch.matmul,
    "cat": lambda x, y: torch.cat([x, y]),
    "where": lambda x, y: torch.where(x > 0, x, y),
    "linear": functional.linear,
    "mse_loss": functional.mse_loss,
    "add_": lambda x, y: x.add_(y),
}


@pytest.mark.parametrize("name", MIXED)
def test_operands_on_two_devices_are_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match="on the same device"):
        MIXED[name](numbers("lazytensor", 3, 3), numbers("cpu", 3, 3))
