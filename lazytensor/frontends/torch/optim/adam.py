"""Adam and AdamW over lists of parameters: one op for all of a dtype, where torch makes ten lists.

Each result is what torch's own sequence of `_foreach_…` calls gives, operation by operation; what
differs is the number of nodes (three for a parameter, not eight). What torch checks or does for
tensors elsewhere, for `capturable`, for tensors in place of numbers, is left to torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any, Final

import torch
from torch.optim import adam as theirs

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.optim.parameters import Step, grouped, record

STATE: Final = 4
"""Operands a parameter has: itself, its gradient, two moments; with amsgrad one more."""
ADAM_NUMBERS: Final = 7


def _adam_steps(*given: Node, amsgrad: bool, decay: str, maximize: bool) -> tuple[Node, ...]:
    """Parameters and moments after a step.

    given: the numbers of `_numbers`, then for each parameter itself, its gradient, its moments.
    `decay`: "" for none, "own" for that of AdamW, "gradient" for Adam's. Result: for each parameter
    itself and its moments.
    """
    share, beta2, fresh, root, eps, pace, decayed = given[:ADAM_NUMBERS]
    width = STATE + amsgrad
    made: list[Node] = []
    for at in range(ADAM_NUMBERS, len(given), width):
        x, grad, mean, square, *most = given[at : at + width]
        grad = -grad if maximize else grad
        if decay == "own":
            x = x * decayed
        elif decay:
            grad = grad + x * decayed
        mean = ops.lerp(mean, grad, share)
        square = ops.add_product(square * beta2, grad, grad, fresh)
        kept = [ops.maximum(most[0], square)] if amsgrad else []
        spread = ops.sqrt(kept[0] if kept else square) / root + eps
        made += [ops.add_quotient(x, mean, spread, pace), mean, square, *kept]
    return tuple(made)


ADAM_STEPS: Final = Composite("adam_steps", _adam_steps)


def _groups(columns: Sequence[Sequence[Any]], steps: Sequence[Any]) -> Any:
    """Rows by dtype and number of steps; None where torch has to do it."""
    if any(s.device.type != "cpu" for s in steps):
        return None
    there = [column for column in columns if column]
    return grouped(there, FLOATS, (step.item() for step in steps))


def _numbers(done: float, options: dict[str, Any]) -> list[float]:
    """What torch works out on the host after `done` steps, in the order that `_adam_steps` has."""
    beta1, beta2, lr = options["beta1"], options["beta2"], options["lr"]
    root = (1 - beta2**done) ** 0.5
    pace = lr / (1 - beta1**done) * -1
    decay = options["weight_decay"]
    decayed = 1 - lr * decay if options["decoupled_weight_decay"] else decay
    return [1 - beta1, beta2, 1 - beta2, root, options["eps"], pace, decayed]


def _is_plain(options: dict[str, Any]) -> bool:
    """Whether all that is asked for is Adam of Python numbers."""
    numbers = [options.get(name) for name in ("beta1", "beta2", "lr", "eps", "weight_decay")]
    return not (
        torch.compiler.is_compiling()
        or None in numbers
        or any(options.get(name) for name in ("has_complex", "capturable", "differentiable"))
        or any(options.get(name) is not None for name in ("grad_scale", "found_inf"))
        or any(isinstance(x, torch.Tensor) for x in numbers)
    )


def listed(original: Step) -> Step:
    """torch's step over lists of parameters, recorded as one op where all is on the device."""

    @wraps(original)
    def step(
        params: Any, grads: Any, means: Any, squares: Any, most: Any, steps: Any, *args: Any,
        **options: Any,
    ) -> None:  # fmt: skip
        given = params, grads, means, squares, most
        groups = None
        if params and not args and _is_plain(options):
            groups = _groups(given, steps)
        if groups is None:
            original(*given, steps, *args, **options)
            return
        torch._foreach_add_(steps, torch.tensor(1.0), alpha=1.0)
        decay = ""
        if options["weight_decay"]:
            decay = "own" if options["decoupled_weight_decay"] else "gradient"
        flags = {"amsgrad": bool(most), "decay": decay, "maximize": bool(options["maximize"])}
        for (_, before), rows in groups.items():
            record(ADAM_STEPS, rows, _numbers(before + 1, options), flags)

    return step


def attach() -> None:
    """Take the place of torch's step over lists."""
    theirs._multi_tensor_adam = listed(theirs._multi_tensor_adam)
