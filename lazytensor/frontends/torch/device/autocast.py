"""`torch.autocast("lazytensor")`: which operations run in which precision, as on CUDA.

A kernel of the autocast key converts the arguments and calls the operation below that key. Torch
calls it only while autocast is on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch.utils._pytree import tree_map

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32
from lazytensor.frontends.torch.dispatch.kernels import write
from lazytensor.frontends.torch.dispatch.libraries import lasting
from lazytensor.frontends.torch.dispatch.promotion import cast_to
from lazytensor.frontends.torch.dispatch.registry import register
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.tensor import is_lazy, node

LOWER: Final = [
    "_convolution", "_convolution.deprecated", "conv1d", "conv2d", "conv3d", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "convolution",
    "prelu", "addmm", "addmv", "addr", "matmul", "einsum", "mm", "mv", "linalg_vecdot", "linear",
    "addbmm", "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot", "lstm_cell", "gru_cell",
    "rnn_tanh_cell", "rnn_relu_cell", "scaled_dot_product_attention",
]  # fmt: skip
"""Run in the dtype that autocast is given."""

SINGLE: Final = [
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p",
    "reciprocal", "rsqrt", "sinh", "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar",
    "softplus", "layer_norm", "native_layer_norm", "group_norm", "frobenius_norm.dim",
    "nuclear_norm", "nuclear_norm.dim", "cosine_similarity", "poisson_nll_loss",
    "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss", "kl_div",
    "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss",
    "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss",
    "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp",
]  # fmt: skip
"""Run in f32."""

SINGLE_RESULT: Final = [
    "prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum",
    "linalg_vector_norm", "linalg_matrix_norm", "linalg_matrix_norm.str_ord", "sum",
    "sum.dim_IntList",
]  # fmt: skip
"""Give f32, by their argument `dtype`."""

WIDEST: Final = [
    "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler",
    "index_put", "tensordot", "scatter_add", "cat", "stack",
]  # fmt: skip
"""Run in the widest dtype of their tensors."""

Kernel = Callable[..., Any]
_KEYS: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
library: Final = lasting("aten")
everything: Final = lasting("_")


def _is_eligible(x: Any) -> bool:
    return is_lazy(x) and x.is_floating_point() and x.dtype != torch.float64


def _converted(tree: Any, dtype: torch.dtype) -> Any:
    return tree_map(lambda x: x.to(dtype) if _is_eligible(x) else x, tree)


def _chosen(choose: Callable[[Any], torch.dtype]) -> Callable[[Any], Kernel]:
    """Kernels that run an operation in the dtype that `choose` gives for its arguments."""

    def kernel_of(op: Any) -> Kernel:
        def kernel(*args: Any, **kwargs: Any) -> Any:
            with torch._C._ExcludeDispatchKeyGuard(_KEYS):
                args, kwargs = _converted((args, kwargs), choose((args, kwargs)))
                return op(*args, **kwargs)

        return kernel

    return kernel_of


def _widest(tree: Any) -> torch.dtype:
    found = torch.get_autocast_dtype(DEVICE)
    for x in torch.utils._pytree.tree_leaves(tree):
        if _is_eligible(x):
            found = torch.promote_types(found, x.dtype)
    return found


def _single_result(op: Any) -> Kernel:
    place = next(i for i, a in enumerate(op._schema.arguments) if a.name == "dtype")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        given = kwargs.get("dtype") or (args[place] if place < len(args) else None)
        with torch._C._ExcludeDispatchKeyGuard(_KEYS):
            if given is None and _is_eligible(args[0]):
                return op(*args[:place], **{**kwargs, "dtype": torch.float32})
            return op(*args, **kwargs)

    return kernel


def _unsafe(op: Any) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
            "autocast.\nMany models use a sigmoid layer right before the binary cross entropy "
            "layer.\nIn this case, combine the two layers using "
            "torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
            "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast."
        )

    return kernel


POLICIES: Final[tuple[tuple[list[str], Callable[[Any], Kernel]], ...]] = (
    (LOWER, _chosen(lambda tree: torch.get_autocast_dtype(DEVICE))),
    (SINGLE, _chosen(lambda tree: torch.float32)),
    (SINGLE_RESULT, _single_result),
    (WIDEST, _chosen(_widest)),
    (["binary_cross_entropy"], _unsafe),
)


def _unscale(grads: Any, found_inf: Any, inv_scale: Any) -> None:
    """Gradients times `inv_scale`; `found_inf` becomes 1 if one of them is not finite."""
    bad = node(found_inf)
    for grad in grads:
        given = node(grad)
        finite = ops.is_finite(given)
        every = ops.reduce_and(finite, axes=tuple(range(finite.type.ndim)))
        bad = ops.select(every, bad, cast_to(1.0, F32))
        scale = cast_to(node(inv_scale), given.type.dtype)
        write(grad, given * scale)
    write(found_inf, bad)


def _update(
    scale: Any, tracker: Any, found_inf: Any, growth: float, backoff: float, interval: int
) -> Any:
    """The next scale: smaller after infinities, larger after `interval` steps without any."""
    now, count = node(scale), node(tracker)
    dtype = count.type.dtype
    bad = node(found_inf) > 0.0
    counted = count + 1
    due = ops.equal(counted, cast_to(interval, dtype))
    grown = now * cast_to(growth, F32)
    grown = ops.select(ops.is_finite(grown), grown, now)
    made = ops.select(bad, now * cast_to(backoff, F32), ops.select(due, grown, now))
    write(scale, made)
    write(tracker, ops.select(bad | due, cast_to(0, dtype), counted))
    return scale


def attach() -> None:
    """Register the policies, and what `torch.amp.GradScaler` calls."""
    everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    for names, kernel_of in POLICIES:
        for name in names:
            packet, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            library.impl(name, kernel_of(op), "AutocastPrivateUse1")
    register("_amp_foreach_non_finite_check_and_unscale_", _unscale)
    register("_amp_update_scale_", _update)
