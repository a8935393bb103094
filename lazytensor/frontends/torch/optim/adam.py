"""Adam and AdamW over lists of parameters: one op for all of a dtype, where torch makes ten lists.

Each result is what torch's own sequence of `_foreach_…` calls gives, operation by operation; what
differs is the number of nodes (three for a parameter, not eight). What torch checks or does for
tensors elsewhere, for `capturable`, for tensors in place of numbers, is left to torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

import torch
from torch.optim import adam as theirs

from lazytensor.core.ir.dtypes import FLOATS
from lazytensor.core.lib.optimizers import adam_steps
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.optim.parameters import Step, at_hand, grouped, record


def _groups(columns: Sequence[Sequence[Any]], steps: Sequence[Any]) -> Any:
    """Rows by dtype, device and number of steps; None where torch has to do it."""
    there = [column for column in columns if column]
    return grouped(there, FLOATS, (step.item() for step in steps))


def _numbers(done: float, options: dict[str, Any]) -> list[float]:
    """What torch works out on the host after `done` steps, in the order that `adam_steps` has."""
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


def _are_counted(steps: Sequence[Any]) -> bool:
    """Whether the CPU has the numbers of steps."""
    return all(step.device.type == "cpu" for step in steps)


def _at_once(shown: Sequence[Any], steps: Any, options: dict[str, Any]) -> None:
    """Torch's fused step for the CPU."""
    torch._foreach_add_(steps, torch.tensor(1.0), alpha=1.0)
    fused: Any = torch._fused_adamw_ if options["decoupled_weight_decay"] else torch._fused_adam_
    names = ("amsgrad", "lr", "beta1", "beta2", "weight_decay", "eps", "maximize")
    boxed.alone(fused, *shown, steps, **{name: options[name] for name in names})


def listed(original: Step) -> Step:
    """torch's step over lists of parameters, recorded as one op where all is on the device."""

    @wraps(original)
    def step(
        params: Any, grads: Any, means: Any, squares: Any, most: Any, steps: Any, *args: Any,
        **options: Any,
    ) -> None:  # fmt: skip
        given = params, grads, means, squares, most
        groups = None
        if params and not args and _is_plain(options) and _are_counted(steps):
            if (shown := at_hand(given)) is not None:
                _at_once(shown, steps, options)
                return
            groups = _groups(given, steps)
        if groups is None:
            original(*given, steps, *args, **options)
            return
        torch._foreach_add_(steps, torch.tensor(1.0), alpha=1.0)
        decay = ""
        if options["weight_decay"]:
            decay = "own" if options["decoupled_weight_decay"] else "gradient"
        flags = {"amsgrad": bool(most), "decay": decay, "maximize": bool(options["maximize"])}
        for (*_, before), rows in groups.items():
            record(adam_steps, rows, _numbers(before + 1, options), flags)

    return step


def attach() -> None:
    """Take the place of torch's step over lists."""
    theirs._multi_tensor_adam = listed(theirs._multi_tensor_adam)
