"""Fused optimizers: one call for all parameters, one op for each.

What a step reads and writes is data: parameters, gradients, state, and every number, as most of
them follow a schedule. Where a gradient scaler has found an infinity, everything stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import varying
from lazytensor.core.lib.optimizers import adagrad_decayed, adam_decayed, descent_decayed
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import register
from lazytensor.frontends.torch.tensors.tensor import node, ref


class _StepNumbers:
    """A schedule's numbers, or 0-d tensors in their place, in the dtype of each parameter."""

    def __init__(self, *values: Any) -> None:
        self.values = values
        self.known: dict[Any, list[Node]] = {}

    def like(self, x: Node) -> list[Node]:
        """The numbers for this parameter."""
        dtype = x.type.dtype
        found = self.known.get(dtype)
        if found is None:
            found = self.known[dtype] = [
                cast_to(operand(v), dtype) if isinstance(v, Tensor) else varying(float(v), dtype)
                for v in self.values
            ]
        return found


def _update(
    targets: Sequence[Any], made: Sequence[Node], grad: Any, scale: Any, found_inf: Any
) -> None:
    """Write what a step has made, unless an infinity was found."""
    keeps = None
    if found_inf is not None:
        keeps = ops.not_equal(ops.reshape(node(found_inf), shape=()), cast_to(0.0, F32))
    for target, value in zip(targets, made, strict=True):
        held = ref(target)
        held.write(value if keeps is None else ops.select(keeps, held.node, value))
    if scale is not None:
        ref(grad).write(_unscaled(node(grad), scale))


def _unscaled(grad: Node, scale: Any) -> Node:
    if scale is None:
        return grad
    by = ops.reshape(cast_to(node(scale), grad.type.dtype), shape=())
    return grad / by


def _gradient(grad: Any, scale: Any, maximize: bool) -> Node:
    given = _unscaled(node(grad), scale)
    return -given if maximize else given


def _adam(decoupled: bool) -> Callable[..., None]:
    def kernel(
        parameters: Any, grads: Any, means: Any, squares: Any, most: Any, steps: Any, *,
        lr: Any, beta1: Any, beta2: Any, weight_decay: Any, eps: Any, amsgrad: bool,
        maximize: bool, grad_scale: Any = None, found_inf: Any = None,
    ) -> None:  # fmt: skip
        numbers = _StepNumbers(lr, beta1, beta2, weight_decay, eps)
        for i, (x, grad) in enumerate(zip(parameters, grads, strict=True)):
            state = [x, means[i], squares[i], *([most[i]] if amsgrad else [])]
            own, *rest = (node(t) for t in state)
            step = cast_to(operand(steps[i]), own.type.dtype)
            given = _gradient(grad, grad_scale, maximize)
            before = [*rest[:2], step, *numbers.like(own), *rest[2:]]
            made = adam_decayed(own, given, *before, decoupled=decoupled)
            _update(state, made, grad, grad_scale, found_inf)

    return kernel


def _sgd(
    parameters: Any, grads: Any, buffers: Any, *, weight_decay: Any, momentum: Any, lr: Any,
    dampening: Any, nesterov: bool, maximize: bool, is_first_step: bool, grad_scale: Any = None,
    found_inf: Any = None,
) -> None:  # fmt: skip
    numbers = _StepNumbers(lr, weight_decay, momentum, dampening)
    for i, (x, grad) in enumerate(zip(parameters, grads, strict=True)):
        state = [x, *([buffers[i]] if momentum else [])]
        own, *rest = (node(t) for t in state)
        given = _gradient(grad, grad_scale, maximize)
        made = descent_decayed(
            own, given, *numbers.like(own), *rest, nesterov=nesterov, first=is_first_step
        )
        _update(state, made, grad, grad_scale, found_inf)


def _adagrad(
    parameters: Any, grads: Any, totals: Any, steps: Any, *, lr: Any, lr_decay: float,
    weight_decay: float, eps: float, maximize: bool, grad_scale: Any = None, found_inf: Any = None,
) -> None:  # fmt: skip
    numbers = _StepNumbers(lr, lr_decay, weight_decay, eps)
    for x, grad, total, steps_ in zip(parameters, grads, totals, steps, strict=True):
        own, sum_ = node(x), node(total)
        step = cast_to(operand(steps_), own.type.dtype)
        given = _gradient(grad, grad_scale, maximize)
        made = adagrad_decayed(own, given, sum_, step, *numbers.like(own))
        _update([x, total], made, grad, grad_scale, found_inf)


for overload in ("", ".tensor_lr"):
    register(f"_fused_adagrad_{overload}", _adagrad)
    register(f"_fused_adam_{overload}", _adam(decoupled=False))
    register(f"_fused_adamw_{overload}", _adam(decoupled=True))
    register(f"_fused_sgd_{overload}", _sgd)
