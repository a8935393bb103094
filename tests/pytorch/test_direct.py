"""Composed operations are one node where nothing is differentiated, and composed where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

from lazytensor.core.ir.recording import nodes_made
from tests.pytorch import agreement
from tests.pytorch.agreement import numbers

attention = functional.scaled_dot_product_attention
Call = Callable[[Any], Any]


def _mask(x: Any, flags: bool = False) -> Any:
    values = torch.arange(16.0).reshape(4, 4).sin()
    return (values > 0 if flags else values).to(x.device)


ONE: dict[str, Call] = {
    "attention": lambda x: attention(x, x * 2, x + 1),
    "causal": lambda x: attention(x, x, x, is_causal=True),
    "a scale": lambda x: attention(x, x, x, scale=0.3),
    "flags": lambda x: attention(x, x, x, _mask(x, flags=True)),
    "numbers added": lambda x: attention(x, x, x, _mask(x)),
    "nothing counts": lambda x: attention(x, x, x, torch.zeros(4, 4, device=x.device).bool()),
    "halves": lambda x: attention(*[x.to(torch.bfloat16)] * 3),
    "layer_norm": lambda x: functional.layer_norm(x, (3,)),
    "two axes": lambda x: functional.layer_norm(x, (4, 3), x[0, 0], x[1, 1], 0.1),
    "no bias": lambda x: functional.layer_norm(x, (3,), x[0, 0, 0]),
}
COMPOSED: dict[str, Call] = {
    "repeated heads": lambda x: attention(x, x[:, :1], x[:, :1], enable_gqa=True),
    "spread batches": lambda x: attention(x, x[:1], x[:1]),
    "nothing to look at": lambda x: attention(x, x[:, :, :0], x[:, :, :0]),
    "a bias alone": lambda x: functional.layer_norm(x, (3,), None, x[0, 0, 0]),
}
WRONG: dict[str, Call] = {
    "another size": lambda x: attention(x, x[..., :2], x),
    "two dtypes": lambda x: attention(x, x.double(), x),
    "another last axis": lambda x: functional.layer_norm(x, (4,)),
    "no axes": lambda x: functional.layer_norm(x, ()),
}


@pytest.mark.parametrize("name", ONE | COMPOSED)
def test_it_gives_what_it_gives_on_the_cpu_each_time(name: str) -> None:
    for _ in range(3):
        with torch.no_grad():
            agreement.check(lambda device: (ONE | COMPOSED)[name](numbers(device, 2, 3, 4, 3)))


THREE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "attention": attention,
    "causal, a scale": lambda x, y, z: attention(x, y, z, is_causal=True, scale=0.3),
    "layer_norm": lambda x, y, z: functional.layer_norm(x, (4, 3), y[0, 0], z[0, 0]),
}


@pytest.mark.parametrize("name", THREE)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_is_one_node(name: str, mode: Callable[[], Any]) -> None:
    with mode():
        given = [numbers("lazytensor", 2, 3, 4, 3) for _ in range(3)]
        kept = [THREE[name](*given) for _ in range(2)]
        before = nodes_made()
        kept.append(THREE[name](*given))
    assert nodes_made() == before + 1


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_as_by_the_cpu(name: str) -> None:
    with torch.no_grad():
        theirs, mine = (
            agreement.raised(lambda device: WRONG[name](numbers(device, 2, 3, 4, 3)), device)
            for device in ("cpu", "lazytensor")
        )
    assert mine == theirs


def _turned(device: str, grad: bool) -> Any:
    return numbers(device, 2, 5, 3, 8, grad=grad).transpose(1, 2)


LYING: dict[str, Call] = {
    "heads turned": lambda x: attention(x, x, x),
    "heads in rows": lambda x: attention(*[x.contiguous()] * 3),
    "a mask": lambda x: attention(x, x, x, torch.ones(5, 5, device=x.device)),
    "fewer queries": lambda x: attention(x[:, :, :2], x, x),
    "repeated heads": lambda x: attention(x, x[:, :1], x[:, :1], enable_gqa=True),
    "spread batches": lambda x: attention(x, x[:1], x[:1]),
    "another size": lambda x: attention(x, x, x[..., :4]),
    "columns": lambda x: attention(*[x.transpose(2, 3)] * 3),
    "dropout": lambda x: attention(x, x, x, dropout_p=0.5),
    "three axes": lambda x: attention(*[x[0]] * 3),
    "nothing": lambda x: attention(*[x[:0]] * 3),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", LYING)
def test_it_lies_as_on_the_cpu(name: str, grad: bool) -> None:
    for _ in range(3):
        theirs, ours = (LYING[name](_turned(device, grad)) for device in ("cpu", "lazytensor"))
        assert ours.stride() == theirs.stride()
        if name != "dropout":
            torch.testing.assert_close(ours.cpu(), theirs)


DERIVATIVES: dict[str, Callable[[Call, Any], Any]] = {
    "backward": lambda f, x: torch.autograd.grad(f(x.requires_grad_()), x),
    "twice": lambda f, x: torch.func.grad(lambda y: torch.func.grad(f)(y).sin().sum())(x),
    "forward": lambda f, x: torch.func.jvp(f, (x,), (x.cos(),)),
    "for each": lambda f, x: torch.func.vmap(f)(x),
    "of a checkpoint": lambda f, x: torch.autograd.grad(
        checkpoint(f, x.requires_grad_(), use_reentrant=False), x
    ),
}


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", ["attention", "layer_norm"])
@pytest.mark.parametrize("how", DERIVATIVES)
def test_derivatives_are_the_cpus(name: str, how: str) -> None:
    def once(x: Any) -> Any:
        return (ONE[name](x) * x).sin().sum()

    def program(device: str) -> Any:
        with sdpa_kernel(SDPBackend.MATH):  # the CPU's other kernel has backward's alone
            return DERIVATIVES[how](once, (9 * numbers(device, 2, 3, 4, 3).double()).sin())

    agreement.check(program)
