"""The registry of kernels: the overloads that the device has, and what stands before them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch

from lazytensor.frontends.torch.dispatch import eager
from lazytensor.frontends.torch.dispatch.libraries import lasting
from lazytensor.frontends.torch.dispatch.verdicts import REFUSALS, refuse
from lazytensor.frontends.torch.native.loading import boxed

Row = Callable[..., Any]
BELOW: Final = "PrivateUse2"
"""The dispatch key of Python kernels that the boxed kernel stands in front of."""
library: Final = lasting("aten")
KERNELS: Final[dict[str, Row]] = {}
"""All registered kernels by overload: the complete list for the tests and `doctor`."""


class _Ready(threading.local):
    ready = False


thread: Final = _Ready()
"""Whether `prepare_thread` has run in this thread."""


def prepare_thread() -> None:
    """Make torch's autograd run backward on the calling thread; once per thread.

    Autograd's own device thread aborts at exit, when it meets a finalised interpreter.
    """
    if not thread.ready:
        thread.ready = True
        torch.autograd.set_multithreading_enabled(False).__enter__()


if boxed is not None:
    boxed.prepare_with(prepare_thread)


class Plans(NamedTuple):
    """How the boxed kernel replays an overload's plans.

    row: what remembers them. ordered: results lie as the operands do. writes: the result is the
    first operand, which is written to.
    """

    row: Row
    ordered: bool = False
    writes: bool = False


def register(
    name: str,
    kernel: Row,
    has_derivative: bool = False,
    translated: bool = False,
    plans: Plans | None = None,
    view: str = "",
) -> None:
    """Register `kernel` for the overload `name` on the device.

    `translated`: the kernel raises torch's errors itself. `plans`, `view`: the boxed kernel that
    stands in front of it replays plans, or has torch's kernel for the key `view` make a view.

    Operations that torch composes of others are skipped: torch differentiates through the parts,
    and a kernel would silently drop the gradients. `has_derivative`: the operation is registered
    all the same, as torch has its derivative, or a kernel above composes it where one is taken.
    """
    composed = "CompositeImplicitAutograd"
    if not has_derivative and torch._C._dispatch_has_kernel_for_dispatch_key(
        f"aten::{name}", composed
    ):
        return
    if name in KERNELS:
        raise ValueError(f"a kernel for {name!r} is registered already")
    KERNELS[name] = kernel
    made = kernel if translated else translating(name, kernel)
    bound = eager.bound_of(name)
    if eager.settles(name):
        made = eager.settling(name, made)
    library.impl(name, made, BELOW if boxed is not None else "PrivateUse1")
    if boxed is None:
        return
    if plans:
        base, _, overload = name.partition(".")
        results = len(schema_of(base, overload).returns)
        boxed.impl(f"aten::{name}", bound, *plans, results)
    elif name in eager.IS_NORMAL:
        boxed.draw(f"aten::{name}", eager.IS_NORMAL[name])
    elif view:
        boxed.view(f"aten::{name}", view == "Meta")
    else:
        boxed.eager_first(f"aten::{name}", bound)


def register_above(name: str, kernel: Row, bound: int = 0) -> None:
    """Register what stands above torch's derivative of the overload `name`.

    bound: with how many elements of an operand torch's CPU kernel computes it.
    """
    if boxed is None:
        library.impl(name, kernel, "AutogradPrivateUse1")
    else:
        library.impl(name, kernel, "AutogradPrivateUse2")
        boxed.above(f"aten::{name}", bound)


def translating(name: str, kernel: Row) -> Row:
    """The kernel of an overload, with its errors turned into torch's."""

    def translated(*args: Any, **kwargs: Any) -> Any:
        try:
            return kernel(*args, **kwargs)
        except REFUSALS as error:
            refuse(name, error, args, kwargs)

    return translated


def schema_of(base: str, overload: str) -> Any:
    """Torch's schema of an overload. Raises: ValueError where there is none."""
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{base}"):
        if schema.overload_name == overload:
            return schema
    raise ValueError(f"torch has no overload {base}.{overload}")
