"""SGD over lists of parameters: one op for all of a dtype, where torch makes a list of each number.

Each result is what torch's own sequence of `_foreach_…` calls gives. What torch does to gradients
in place (Nesterov's momentum), sparse gradients, narrow dtypes, and tensors in place of numbers
are left to torch. In the first step momentum is torch's copy of the gradient: here a sum with what
is zero, and so the same program as all later steps.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from torch.optim import sgd as theirs

from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.lib.optimizers import sgd_steps
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.optim.parameters import Step, at_hand, grouped, record


def _is_plain(options: dict[str, Any]) -> bool:
    """Whether all that is asked for is SGD of Python numbers."""
    names = ("weight_decay", "momentum", "lr", "dampening")
    numbers = [options.get(name) for name in names]
    return not (
        torch.compiler.is_compiling()
        or any(not isinstance(x, int | float) for x in numbers)
        or any(options.get(name) for name in ("nesterov", "has_sparse_grad"))
    )


def _groups(params: Any, grads: Any, momenta: Any) -> Any:
    """Rows by dtype, and by whether their momentum begins; None where torch has to do it."""
    if momenta is None:
        return grouped([params, grads], (F32, F64), [False] * len(params))
    begins = [x is None for x in momenta]
    given = momenta
    if any(begins):
        pairs = zip(momenta, grads, strict=True)
        given = [torch.zeros_like(grad) if x is None else x for x, grad in pairs]
    groups = grouped([params, grads, given], (F32, F64), begins)
    if groups is not None:
        momenta[:] = given
    return groups


def _at_once(params: Any, grads: Any, momenta: Any, options: dict[str, Any]) -> bool:
    """Take torch's fused step for the CPU, if the host has all elements; whether it has."""
    begins = [x is None for x in momenta]
    if any(begins) and (not all(begins) or at_hand([params, grads]) is None):
        return False
    if begins and begins[0]:
        momenta[:] = [torch.zeros_like(grad) for grad in grads]
    shown = at_hand([params, grads, momenta])
    if shown is not None:
        names = ("weight_decay", "momentum", "lr", "dampening", "nesterov", "maximize")
        given = {name: options[name] for name in names}
        boxed.alone(torch._fused_sgd_, *shown, **given, is_first_step=bool(begins and begins[0]))
    return shown is not None


def listed(original: Step) -> Step:
    """torch's step over lists of parameters, recorded as one op where all is on the device."""

    @wraps(original)
    def step(params: Any, grads: Any, momenta: Any, *args: Any, **options: Any) -> None:
        has_momentum = bool(options.get("momentum"))
        groups = None
        plain = not any(x is not None for x in args) and _is_plain(options)
        if params and plain and not any(x is None for x in grads):
            if _at_once(params, grads, momenta if has_momentum else [], options):
                return
            groups = _groups(params, grads, momenta if has_momentum else None)
        if groups is None:
            original(params, grads, momenta, *args, **options)
            return
        flags = {
            "momentum": has_momentum,
            "decay": bool(options["weight_decay"]),
            "maximize": bool(options["maximize"]),
        }
        for (*_, begins), rows in groups.items():
            share = 1.0 if begins else 1 - options["dampening"]
            numbers = options["weight_decay"], options["momentum"], share, -options["lr"]
            record(sgd_steps, rows, numbers, flags)

    return step


def attach() -> None:
    """Take the place of torch's step over lists."""
    theirs._multi_tensor_sgd = listed(theirs._multi_tensor_sgd)
