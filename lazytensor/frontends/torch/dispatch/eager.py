"""Which operations torch's own CPU kernels compute, where the host has all elements (`eager.h`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import torch

from lazytensor.core.policy import EAGER_ELEMENTS, EAGER_WEIGHTS
from lazytensor.frontends.torch.dispatch.verdicts import overload
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.tensors.tensor import Storage, memory_of

RESIZING: Final = frozenset(["resize_", "resize_as_", "set_"])
"""Operations that give a tensor another geometry, besides those that torch marks."""
OWN: Final = frozenset([
    "_ctc_loss", "_ctc_loss_backward",  # other states are kept for the gradient
    "_grouped_mm",  # the CPU's leaves rows of no group as they are
    "_native_multi_head_attention", "_transformer_encoder_layer_fwd",  # they look at autocast
    "_nested_tensor_from_mask_left_aligned",  # there are no nested tensors on the device
    "_standard_gamma_grad", "_dirichlet_grad",  # the CPU's are less exact
])  # fmt: skip
"""Operations of which the device's kernel gives something else than the CPU's."""
DROPPING: Final = frozenset(["scaled_dot_product_attention"])
"""Operations that draw random numbers only where they are told to drop something."""
LIGHT: Final = frozenset([
    "mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "linear", "linear_backward", "embedding",
    "scaled_dot_product_attention", "index_select", "cat", "zeros", "ones", "full", "arange",
    "zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full",
    "new_empty", "new_empty_strided", "empty", "empty_strided", "clone", "copy_", "_to_copy",
    "fill_", "zero_",
])  # fmt: skip
"""Products, attention, and what makes or moves tensors: they take little for an element of a large
operand."""
CPU_KEYS: Final = (
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)
"""Dispatch keys that a CPU's kernel may be under."""

SINGLE_OR_DOUBLE: Final = (torch.float32, torch.float64)
IS_NORMAL: Final = {"uniform_": False, "normal_": True}
"""The operations that the extension draws by itself; whether the numbers are normal."""


def bound_of(name: str) -> int:
    """With how many elements of an operand torch's CPU kernel computes an overload; 0 for never.

    `out=` tensors may get another size, and views are of the device's storages.
    """
    base, schema = name.partition(".")[0], overload(name)._schema
    shows = any(r.alias_info and not r.alias_info.is_write for r in schema.returns)
    outs = any(a.is_out for a in schema.arguments)
    resizes = base in RESIZING or torch.Tag.inplace_view in overload(name).tags
    differs = base in OWN or (draws(name) and name not in DROPPING)
    if shows or outs or resizes or differs or not _has_cpu_kernel(name):
        return 0
    return EAGER_WEIGHTS if base in LIGHT else EAGER_ELEMENTS


def draws(name: str) -> bool:
    """Whether an overload draws random numbers: torch's CPU kernel would draw others."""
    return torch.Tag.nondeterministic_seeded in overload(name).tags


def settles(name: str) -> bool:
    """Whether the results of an overload are computed at once, though not by torch's CPU kernel."""
    return draws(name) or name.startswith("_thnn_fused_")


def _has_cpu_kernel(name: str) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return name == "linear_backward" or any(has(f"aten::{name}", key) for key in CPU_KEYS)


def is_at_hand(x: Any, bound: int = EAGER_WEIGHTS) -> bool:
    """Whether a tensor has at most `bound` elements, and the host has them."""
    return boxed is not None and boxed.is_at_hand(x, bound)


def _bring(x: Any) -> None:
    """Compute what the storage of a tensor holds, and give the storage the memory."""
    held = x.untyped_storage().handle
    boxed.put_at_hand(x, memory_of(held), held.__class__ is Storage)


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    """The device's tensors among values, and in lists of these."""
    for x in values:
        if isinstance(x, torch.Tensor):
            if x.device.type == "lazytensor":
                yield x
        elif isinstance(x, list | tuple):
            yield from _tensors(x)


AT_HAND: Final[dict[str, Callable[..., Any]]] = {}
"""What computes an overload without a program. It may decline (NotImplemented)."""


def settling(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose results the host has at once, if it has the elements of all operands."""
    if boxed is None:
        return kernel

    def settled(*args: Any, **kwargs: Any) -> Any:
        given = list(_tensors(args))
        if not given or not all(map(is_at_hand, given)):
            return kernel(*args, **kwargs)
        direct = AT_HAND.get(name)
        made = NotImplemented if direct is None else boxed.alone(direct, *args, **kwargs)
        if made is NotImplemented:
            made = kernel(*args, **kwargs)
            for x in _tensors((made,)):
                _bring(x)
        return made

    return settled
