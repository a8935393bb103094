"""Modules that move to the device and back: their parameters stay the same objects.

Between devices of one kind, torch moves a parameter by replacing its data. Between the CPU and this
device it would make new parameters: tied weights would silently come apart, and an existing
optimizer would go on with the old ones. So the tensor below a parameter is swapped here.
Earlier results keep the old tensor; their gradients are passed on to the parameter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from lazytensor.frontends.torch.tensors.tensor import is_lazy

Move = Callable[[Any], Any]
_apply: Final = torch.nn.Module._apply


def _crossing(parameters: list[Any], fn: Move) -> list[Any]:
    """The parameters that `fn` moves to the device or away from it."""
    crosses: dict[Any, bool] = {}
    for x in parameters:
        kind = x.device, x.dtype
        if kind not in crosses:
            probe = torch.empty(0, dtype=x.dtype, device=x.device)
            crosses[kind] = is_lazy(fn(probe)) != is_lazy(probe)
    return [x for x in parameters if crosses[x.device, x.dtype]]


def _pass_on(x: Any) -> None:
    """Pass gradients of earlier results of `x` on to it after its move."""
    if isinstance(x, torch.nn.UninitializedParameter) or not x.requires_grad or x.is_inference():
        return

    def hook(grads: Any) -> None:
        grad = grads[0].to(x.device, x.dtype)
        x.grad = grad if x.grad is None else x.grad + grad

    torch.autograd.graph.get_gradient_edge(x).node.register_prehook(hook)


def _exchange(x: Any, other: Any) -> bool:
    """Give the object `x` the tensor of `other`. Result: whether torch can do that."""
    hooks = x._backward_hooks, x._post_accumulate_grad_hooks
    _pass_on(x)
    other.requires_grad_(x.requires_grad)
    try:
        torch._C._swap_tensor_impl(x, other)
    except RuntimeError:
        return False
    if hooks[0]:
        x._backward_hooks = hooks[0]
    if hooks[1]:
        x._post_accumulate_grad_hooks = hooks[1]
    return True


def _moved(x: Any, fn: Move) -> Any:
    """The parameter, moved with its gradient; a new object where torch cannot swap tensors."""
    grad, other = x.grad, fn(x)
    if grad is not None:
        x.grad = None
        there = fn(grad.detach()).requires_grad_(grad.requires_grad)
        grad = grad if grad.is_leaf and _exchange(grad, there) else there
    if not _exchange(x, other):
        warnings.warn(
            "a parameter is another object after the move: torch itself refers to it weakly. Make "
            "optimizers after the module was moved",
            stacklevel=5,
        )
        x = torch.nn.Parameter(other, x.requires_grad)
    x.grad = grad
    return x


def _places(module: Any, recurse: bool) -> list[tuple[Any, str, Any]]:
    """The module's parameters: owner, name, parameter."""
    parts = module.modules() if recurse else [module]
    return [
        (part, name, x)
        for part in parts
        for name, x in part._parameters.items()
        if x is not None and x.is_leaf and not is_traceable_wrapper_subclass(x)
    ]


def _convert(self: Any, fn: Move, recurse: bool = True) -> Any:
    if torch.__future__.get_swap_module_params_on_conversion():
        return _apply(self, fn, recurse)
    places = _places(self, recurse)
    with torch.inference_mode(False), torch.no_grad():
        crossing = _crossing([x for _, _, x in places], fn)
        moved = {id(x): (x, _moved(x, fn)) for x in dict.fromkeys(crossing)}
    if not moved:
        return _apply(self, fn, recurse)
    for part, name, x in places:
        found = moved.get(id(x), (x, x))[1]
        if found is not x or isinstance(part, torch.jit.ScriptModule):  # which holds tensors
            part._parameters[name] = found
    done = {id(y) for _, x in moved.values() for y in (x, x.grad)}
    return _apply(self, lambda x: x if id(x) in done else fn(x), recurse)


def attach() -> None:
    """Make modules keep their parameters' identities."""
    torch.nn.Module._apply = _convert
