"""Derivatives of entries of torch's table, held against differences on the device: `gradcheck`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from tests.pytorch.opinfo import ON_CPU, to_device


class Neither(Exception):
    """The CPU fails the same check."""


def _differentiable(op: Any, variant: Any, sample: Any, there: Any) -> tuple[Any, list[Any]]:
    """A function of the tensors that have gradients, and these."""
    leaves, spec = tree_flatten(there)
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor) and x.requires_grad]

    def function(*tensors: Any) -> Any:
        given = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = tensor
        input, args, kwargs = tree_unflatten(given, spec)
        made = op.gradcheck_wrapper(variant, input, *args, **kwargs)
        process = sample.output_process_fn_grad
        return made if process is None else process(made)

    return function, [leaves[place] for place in places]


def _options(op: Any, batched: bool) -> dict[str, Any]:
    fast = op.gradcheck_fast_mode
    return {
        "fast_mode": True if fast is None else fast,
        "nondet_tol": op.gradcheck_nondet_tol,
        "check_batched_grad": batched,
        "check_grad_dtypes": True,
    }


def _reverse(op: Any, function: Any, tensors: Any) -> None:
    torch.autograd.gradcheck(function, tensors, **_options(op, op.check_batched_grad))


def _forward(op: Any, function: Any, tensors: Any) -> None:
    options = {**_options(op, False), "check_undefined_grad": False}
    torch.autograd.gradcheck(
        function, tensors, check_forward_ad=True, check_backward_ad=False, **options
    )


def _twice(op: Any, function: Any, tensors: Any) -> None:
    torch.autograd.gradgradcheck(function, tensors, **_options(op, op.check_batched_gradgrad))


def _forward_over_reverse(op: Any, function: Any, tensors: Any) -> None:
    options = {**_options(op, False), "check_undefined_grad": False}
    torch.autograd.gradgradcheck(
        function, tensors, check_fwd_over_rev=True, check_rev_over_rev=False, **options
    )


Derivative = Callable[[Any, Any, Any], None]


def _checked(derivative: Derivative, supported: str, writes: bool = False) -> Any:
    """A check of every sample for which torch says that the derivative is there."""

    def check(op: Any, sample: Any) -> None:
        variant = op.get_inplace() if writes else op.get_op()
        if variant is None or not getattr(op, supported):
            return
        if writes and sample.broadcasts_input:
            return
        call = _spared(variant) if writes else variant
        given = sample.input, sample.args, sample.kwargs
        there = tree_map(to_device, given)
        if op.name in ON_CPU:
            there = (there[0], *given[1:])
        function, tensors = _differentiable(op, call, sample, there)
        if not tensors:
            return
        try:
            derivative(op, function, tensors)
        except Exception:
            if _fails(derivative, op, *_differentiable(op, call, sample, given)):
                raise Neither from None
            raise

    return check


def _fails(derivative: Derivative, op: Any, function: Any, tensors: Any) -> bool:
    try:
        derivative(op, function, tensors)
    except Exception:  # noqa: BLE001 -- whatever it is, the device may do the same
        return True
    return False


def _spared(variant: Any) -> Any:
    """The in-place variant on a copy: leaves are not to be written to."""

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        return variant(input.clone(), *args, **kwargs)

    return call


DERIVATIVES = {
    "gradcheck": _checked(_reverse, "supports_autograd"),
    "gradgradcheck": _checked(_twice, "supports_gradgrad"),
    "forward-mode": _checked(_forward, "supports_forward_ad"),
    "forward-over-reverse": _checked(_forward_over_reverse, "supports_fwgrad_bwgrad"),
    "gradcheck-in-place": _checked(_reverse, "supports_inplace_autograd", writes=True),
}
"""What is checked of each entry in f64, by name."""
