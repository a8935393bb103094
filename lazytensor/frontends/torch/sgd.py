"""SGD over lists of parameters: one op for all of a dtype, where torch makes a list of each number.

Each result is what torch's own sequence of `_foreach_…` calls gives. What torch does to gradients
in place (Nesterov's momentum), the first step, whose momentum is a copy, sparse gradients, narrow
dtypes, and tensors in place of numbers are left to torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any, Final

import torch
from torch.optim import sgd as theirs

from lazytensor.core import ops
from lazytensor.core.dtypes import F32, F64
from lazytensor.core.node import Node
from lazytensor.core.op import Composite
from lazytensor.frontends.torch.parameters import Step, grouped, record

NUMBERS: Final = 4


def _sgd_steps(*given: Node, momentum: bool, decay: bool, maximize: bool) -> tuple[Node, ...]:
    """Parameters, and their momentum if there is one, after a step.

    given: weight decay, momentum, the share of the gradient in it, and the negative learning rate;
    then for each parameter itself, its gradient, its momentum. Result: for each parameter itself
    and its momentum.
    """
    decayed, kept, share, pace = given[:NUMBERS]
    made: list[Node] = []
    width = 2 + momentum
    for at in range(NUMBERS, len(given), width):
        x, grad, *state = given[at : at + width]
        grad = ops.negate(grad) if maximize else grad
        if decay:
            grad = ops.add(grad, ops.multiply(x, decayed))
        if momentum:
            grad = ops.add(ops.multiply(state[0], kept), ops.multiply(grad, share))
        made += [ops.add(x, ops.multiply(grad, pace)), *([grad] if momentum else [])]
    return tuple(made)


STEPS: Final = Composite("sgd_steps", _sgd_steps)


def _is_plain(lists: Sequence[Sequence[Any]], options: dict[str, Any]) -> bool:
    """Whether all that is asked for is SGD of Python numbers that has been running for a step."""
    names = ("weight_decay", "momentum", "lr", "dampening")
    numbers = [options.get(name) for name in names]
    return not (
        torch.compiler.is_compiling()
        or any(not isinstance(x, int | float) for x in numbers)
        or any(options.get(name) for name in ("nesterov", "has_sparse_grad"))
        or any(x is None for column in lists for x in column)
    )


def listed(original: Step) -> Step:
    """torch's step over lists of parameters, recorded as one op where all is on the device."""

    @wraps(original)
    def step(params: Any, grads: Any, momenta: Any, *args: Any, **options: Any) -> None:
        has_momentum = bool(options.get("momentum"))
        columns = [params, grads, momenta] if has_momentum else [params, grads]
        groups = None
        if params and not any(x is not None for x in args) and _is_plain(columns, options):
            groups = grouped(columns, (F32, F64), [None] * len(params))
        if groups is None:
            original(params, grads, momenta, *args, **options)
            return
        numbers = (
            options["weight_decay"], options["momentum"], 1 - options["dampening"], -options["lr"],
        )  # fmt: skip
        flags = {
            "momentum": has_momentum,
            "decay": bool(options["weight_decay"]),
            "maximize": bool(options["maximize"]),
        }
        for rows in groups.values():
            record(STEPS, rows, numbers, flags)

    return step


def attach() -> None:
    """Take the place of torch's step over lists."""
    theirs._multi_tensor_sgd = listed(theirs._multi_tensor_sgd)
