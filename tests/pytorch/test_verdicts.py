"""What a row refuses is refused in torch's words: those of its CPU kernel, by class and text."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from lazytensor.core.errors import Unsupported
from lazytensor.core.observe import metrics
from lazytensor.frontends.torch.dispatch import fallback, verdicts
from tests.pytorch import agreement
from tests.pytorch.agreement import Program, numbers


def whole(device: str, *shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int64, device=device)


def pending(x: torch.Tensor) -> torch.Tensor:
    """What is not computed yet."""
    return x + 0


REFUSED: dict[str, Program] = {
    "steps of 0": lambda d: functional.avg_pool2d(numbers(d, 1, 2, 4, 4), 2, stride=0),
    "steps back": lambda d: functional.max_pool2d(numbers(d, 1, 2, 4, 4), 2, stride=-1),
    "no kernel": lambda d: functional.avg_pool3d(numbers(d, 1, 2, 4, 4, 4), 0),
    "a kernel of three axes": lambda d: functional.max_pool2d(numbers(d, 1, 2, 4, 4), (2, 2, 2)),
    "padding of three axes": lambda d: functional.avg_pool2d(
        numbers(d, 1, 2, 4, 4), 2, padding=(1, 1, 1)
    ),
    "no channels": lambda d: functional.max_pool2d(numbers(d, 1, 0, 4, 4), 2),
    "a pending image": lambda d: functional.max_pool2d(pending(numbers(d, 4, 4)), 2),
    "a repeated image": lambda d: functional.max_pool2d(numbers(d, 1, 4).expand(4, 4), 2),
    "an adaptive mean of nothing": lambda d: functional.adaptive_avg_pool2d(
        numbers(d, 1, 2, 4, 0), 2
    ),
    "a size below 0": lambda d: functional.adaptive_max_pool3d(numbers(d, 2, 4, 4, 4), -1),
    "places of another shape": lambda d: functional.max_unpool2d(
        numbers(d, 1, 2, 2, 2), whole(d, 1, 2, 2, 1), 2
    ),
    "places that are floats": lambda d: functional.max_unpool2d(
        numbers(d, 1, 2, 2, 2), numbers(d, 1, 2, 2, 2), 2
    ),
    "silu": lambda d: functional.silu(whole(d, 4)),
    "gelu": lambda d: functional.gelu(whole(d, 4) > 0),
    "softmax": lambda d: functional.softmax(whole(d, 4), dim=0),
    "relu of complex numbers": lambda d: functional.relu(numbers(d, 4) * 1j),
    "a mean square": lambda d: functional.mse_loss(whole(d, 2), whole(d, 2)),
    "a loss of Huber's": lambda d: functional.huber_loss(whole(d, 2), whole(d, 2)),
    "flags apart": lambda d: functional.mse_loss(whole(d, 2) > 0, whole(d, 2) > 0),
    "a weight of another dtype": lambda d: functional.multi_margin_loss(
        numbers(d, 2, 3), whole(d, 2), weight=numbers(d, 3).double()
    ),
    "no elements to read": lambda d: functional.embedding(whole(d, 1), numbers(d, 0, 2)),
    "batch_norm": lambda d: functional.batch_norm(whole(d, 4, 3), whole(d, 3), whole(d, 3)),
    "instance_norm": lambda d: functional.instance_norm(whole(d, 2, 3, 2)),
    "layer_norm": lambda d: functional.layer_norm(whole(d, 2, 3), (3,)),
    "layer_norm, dtypes": lambda d: functional.layer_norm(
        numbers(d, 2, 3), (3,), numbers(d, 3).double(), numbers(d, 3).double()
    ),
    "layer_norm, a bias": lambda d: functional.layer_norm(
        numbers(d, 2, 3), (3,), numbers(d, 3), numbers(d, 2)
    ),
    "written in place": lambda d: functional.silu(whole(d, 4), inplace=True),
    "written out": lambda d: torch.exp(numbers(d, 4), out=whole(d, 4)),
    "grid_sample": lambda d: functional.grid_sample(
        whole(d, 1, 1, 2, 2), whole(d, 1, 2, 2, 2), align_corners=False
    ),
    "an area": lambda d: functional.interpolate(whole(d, 1, 1, 2, 2) > 0, size=2, mode="area"),
}


def dtypes(name: str, row: Program, *given: torch.dtype) -> dict[str, Program]:
    """A row of zeros of each dtype."""
    return {f"{name} of {dtype}": lambda d, t=dtype: row(_zeros(d, t)) for dtype in given}  # type: ignore[misc]


def _zeros(device: str, dtype: torch.dtype) -> Any:
    return lambda *shape: torch.zeros(shape, dtype=dtype, device=device)


INT, FLAG, BYTE, COMPLEX = torch.int64, torch.bool, torch.uint8, torch.complex64
KINDS: dict[str, Program] = {
    **dtypes("mean", lambda x: functional.avg_pool2d(x(1, 2, 4, 4), 2), BYTE, COMPLEX),
    **dtypes("adaptive mean", lambda x: functional.adaptive_avg_pool2d(x(2, 4, 4), 2), INT, BYTE),
    **dtypes("adaptive max", lambda x: functional.adaptive_max_pool2d(x(2, 4, 4), 2), INT, FLAG),
    **dtypes("loss", lambda x: functional.binary_cross_entropy(x(2), x(2)), INT),
    **dtypes("smooth loss", lambda x: functional.smooth_l1_loss(x(2), x(2)), INT),
    **dtypes("glu", lambda x: functional.glu(x(4)), INT, FLAG),
    **dtypes("nearest", lambda x: functional.interpolate(x(1, 1, 4), size=2), INT, FLAG, COMPLEX),
    **dtypes("prelu", lambda x: functional.prelu(x(2, 3), x(3)), INT),
    **dtypes("logsigmoid", lambda x: functional.logsigmoid(x(2)), INT),
    "classes of another dtype": lambda d: functional.nll_loss(numbers(d, 1, 3), numbers(d, 1)),
    "images of classes": lambda d: functional.nll_loss(
        numbers(d, 1, 3, 1, 1), whole(d, 1, 1, 1).int()
    ),
    "labels": lambda d: functional.multi_margin_loss(numbers(d, 2, 3), whole(d, 2).int()),
    "several labels": lambda d: functional.multilabel_margin_loss(
        numbers(d, 1, 3), numbers(d, 1, 3)
    ),
    "a target of doubles": lambda d: functional.binary_cross_entropy(
        numbers(d, 3).sigmoid(), numbers(d, 3).sigmoid().double()
    ),
    "statistics of doubles": lambda d: functional.batch_norm(
        numbers(d, 4, 3), numbers(d, 3).double(), numbers(d, 3).double()
    ),
    "distances": lambda d: torch.cdist(numbers(d, 2, 3), numbers(d, 2, 3), p=-1),
    "a table of integers": lambda d: functional.embedding_bag(
        whole(d, 2), whole(d, 3, 2), whole(d, 1)
    ),
    "offsets that are floats": lambda d: functional.embedding_bag(
        whole(d, 2), numbers(d, 3, 2), numbers(d, 1)
    ),
    "bags without an end": lambda d: functional.embedding_bag(
        whole(d, 2), numbers(d, 3, 2), whole(d, 0), include_last_offset=True
    ),
    "bags of volumes": lambda d: torch.embedding_bag(
        numbers(d, 3, 2), whole(d, 2, 2, 2), whole(d, 1)
    ),
    **{
        f"a gradient of no windows, {name}": lambda d, name=name: (  # type: ignore[misc]
            getattr(functional, name)(numbers(d, 1, 2, 4, 4, grad=True), 0).sum().backward()
        )
        for name in ("adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool3d")
    },
    "dilation of 0": lambda d: functional.max_pool2d(numbers(d, 1, 2, 4, 4), 2, dilation=0),
    "a mean of five axes": lambda d: functional.avg_pool2d(numbers(d, 1, 1, 2, 4, 4), 2),
    "a mean of no planes": lambda d: functional.avg_pool2d(numbers(d, 1, 0, 4, 4), 2),
    "cubes of volumes": lambda d: functional.grid_sample(
        numbers(d, 1, 1, 2, 2, 2), numbers(d, 1, 2, 2, 2, 3), "bicubic", align_corners=False
    ),
    "softmax of a number": lambda d: functional.softmax(torch.tensor(1.0, device=d), dim=1),
    "samples of other channels": lambda d: functional.fractional_max_pool2d(
        numbers(d, 1, 2, 6, 6), 2, output_size=3, _random_samples=numbers(d, 1, 1, 2)
    ),
    "one_hot of floats": lambda d: functional.one_hot(numbers(d, 2), 2),
    "one_hot of nothing": lambda d: functional.one_hot(whole(d, 0)),
    "one_hot of no classes": lambda d: functional.one_hot(whole(d, 1), 0),
}
"""What the device could compute, and the CPU does not."""
REFUSED |= KINDS


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_as_on_the_cpu(name: str) -> None:
    wanted = agreement.raised(REFUSED[name], "cpu")
    for _ in range(3):  # calls of a kind are remembered
        assert agreement.raised(REFUSED[name], "lazytensor") == wanted


def test_nothing_is_computed_on_the_cpu_and_no_operation_is_given_up() -> None:
    before, given_up = metrics.snapshot(), set(fallback._refused)
    for program in REFUSED.values():
        agreement.raised(program, "lazytensor")
    after = metrics.snapshot()
    assert after["fallbacks"] == before["fallbacks"]
    assert fallback._refused == given_up


def test_asking_changes_nothing() -> None:
    state, out = torch.get_rng_state(), numbers("cpu", 3)
    op = torch.ops.aten.rrelu_with_noise.default
    x, noise = numbers("lazytensor", 3), numbers("lazytensor", 3)
    assert verdicts.verdict(op, (x, noise, 0.1, 0.3, True), {}) is None
    assert verdicts.verdict(torch.ops.aten.exp.out, (x,), {"out": out}) is None
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(out, numbers("cpu", 3))
    assert torch.equal(noise.cpu(), numbers("cpu", 3))


@pytest.mark.parametrize("error", [Unsupported("not written yet"), ValueError("by the row")])
def test_what_torch_takes_is_refused_in_the_rows_words(error: Exception) -> None:
    x: Any = numbers("lazytensor", 3)
    with pytest.raises(type(error), match=str(error)):
        verdicts.refuse("exp", error, (x,))
