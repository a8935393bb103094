"""Operations that torch composes of others, recorded as one node where nothing is differentiated.

Torch differentiates their parts. So a kernel above autograd looks at each call: if a derivative may
be asked for, or an argument is unusual, the call is composed as elsewhere; otherwise, as in most
inference, it is one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, FLOATS
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import TensorType
from lazytensor.core.lib.geometry import Ints, in_order, order_of
from lazytensor.frontends.torch.dispatch.eager import bound_of
from lazytensor.frontends.torch.dispatch.forms import kept_order
from lazytensor.frontends.torch.dispatch.promotion import operand
from lazytensor.frontends.torch.dispatch.recipes import remembering
from lazytensor.frontends.torch.dispatch.registry import (
    Row,
    prepare_thread,
    register,
    register_above,
    thread,
)
from lazytensor.frontends.torch.tensors.tensor import laid, wrap


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """`scaled_dot_product_attention`; NotImplemented for calls that are better composed."""
    mask = [] if attn_mask is None else [operand(attn_mask)]
    if dropout_p or enable_gqa or (mask and is_causal):
        return NotImplemented
    q, k, v = (operand(x) for x in (query, key, value))
    if not _fit(q.type, k.type, v.type, *(x.type for x in mask)):
        return NotImplemented
    wide = F32 if q.type.dtype in (F16, BF16) else q.type.dtype
    factor = 1 / math.sqrt(q.type.shape[-1]) if scale is None else scale
    return ops.attention(q, k, v, scalar(float(factor), wide), *mask, causal=is_causal)


def _attended(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, *_: Any,
    enable_gqa: bool = False, **__: Any,
) -> Ints | None:  # fmt: skip
    """The order of the result's axes where torch's CPU kernel keeps the query's; None for rows."""
    given = query, key, value
    if query.ndim != 4 or query.is_contiguous() or dropout_p:
        return None
    heads = 1 if enable_gqa else 2
    plain = all(
        x.ndim == 4
        and x.shape[:heads] == query.shape[:heads]
        and x.shape[-1] == query.shape[-1]
        and x.stride(-1) == 1
        and x.numel()
        for x in given
    )
    if not plain or (attn_mask is not None and attn_mask.requires_grad):
        return None
    return order_of(query.shape, kept_order(query))


def _fit(query: TensorType, key: TensorType, value: TensorType, *mask: TensorType) -> bool:
    """Whether shapes and dtypes are the usual ones: no repeats, nothing empty."""
    *first, rows, size = query.shape if query.ndim > 1 else (0, 0)
    columns = key.shape[-2] if key.ndim > 1 else 0
    fitting = (
        query.dtype in FLOATS
        and query.dtype == key.dtype == value.dtype
        and key.shape == (*first, columns, size)
        and value.shape[:-1] == (*first, columns)
        and min(query.size, key.size, value.size) > 0
    )
    return fitting and all(
        x.dtype in (BOOL, query.dtype) and _spreads(x.shape, (*first, rows, columns)) for x in mask
    )


def _spreads(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether `shape` broadcasts to `whole`."""
    try:
        return np.broadcast_shapes(tuple(shape), tuple(whole)) == tuple(whole)
    except ValueError:
        return False


def _layer_norm(
    x: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """`layer_norm`; NotImplemented for calls that are better composed."""
    scaling = [operand(t) for t in (weight, bias) if t is not None]
    given, last = operand(x), tuple(normalized_shape)
    plain = (weight is not None or bias is None) and given.type.dtype in FLOATS
    types = [t.type for t in scaling]
    if not (
        plain
        and last
        and given.type.size
        and given.type.shape[-len(last) :] == last
        and all(t.shape == last and t.dtype == given.type.dtype for t in types)
    ):
        return NotImplemented
    wide = F32 if given.type.dtype in (F16, BF16) else given.type.dtype
    return ops.layer_norm_inference(given, scalar(float(eps), wide), *scaling, axes=len(last))


def _normalized(
    x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    """Torch's composition of `layer_norm`, called directly: a look-up in its registry is slower."""
    return torch.native_layer_norm(x, shape, weight, bias, eps)[0]


_torchs_attention: Final = torch.ops.aten.scaled_dot_product_attention.default.decompose


def _weighted(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Torch's composition of attention, but for a scale of the query only.

    Torch scales the keys, too, which are then in memory as they are and scaled.
    """
    masks = [] if attn_mask is None else [attn_mask]
    is_usual = query.dtype == key.dtype == value.dtype and min(query.ndim, key.ndim) > 1
    is_usual = is_usual and all(x.dtype in (torch.bool, query.dtype) for x in masks)
    if enable_gqa or not is_usual or (masks and is_causal):
        how = {"scale": scale, "enable_gqa": enable_gqa}
        return _torchs_attention(query, key, value, attn_mask, dropout_p, is_causal, **how)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * factor) @ key.transpose(-2, -1)
    if is_causal:
        attn_mask = scores.new_ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = torch._safe_softmax(scores, -1)
    return torch.dropout(weights, dropout_p, True) @ value if dropout_p else weights @ value


DECOMPOSITIONS: Final[dict[str, Callable[..., Any]]] = {
    "scaled_dot_product_attention": _weighted,
    "layer_norm": _normalized,
}


ROWS: Final[dict[str, Row]] = {
    "scaled_dot_product_attention": _attention,
    "layer_norm": _layer_norm,
}
"""Rows that follow from types and plain values alone."""


ORDERS: Final[dict[str, Callable[..., Ints | None]]] = {"scaled_dot_product_attention": _attended}
"""Functions from the arguments to the order of the result's axes, slowest first; None for rows."""


def _kernels(name: str, row: Row) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The kernels of a composed operation: above autograd, and below."""
    decomposed = DECOMPOSITIONS[name]
    order_for = ORDERS.get(name, lambda *args, **kwargs: None)
    is_differentiated = torch.is_grad_enabled

    @remembering
    def plain(*args: Any, **kwargs: Any) -> Any:
        given = [x.__class__ for x in args if isinstance(x, Tensor)]
        if not all(kind is Tensor or kind is Parameter for kind in given):
            return NotImplemented  # a compiler's stand-in
        return row(*args, **kwargs)

    def composed(*args: Any, **kwargs: Any) -> Any:
        made, order = decomposed(*args, **kwargs), order_for(*args, **kwargs)
        if order is None:
            return made
        back = tuple(order.index(axis) for axis in range(len(order)))
        return made.permute(order).contiguous().permute(back)

    def below(*args: Any, **kwargs: Any) -> Any:
        if not thread.ready:
            prepare_thread()
        made = plain(*args, **kwargs)
        if made is NotImplemented:
            return composed(*args, **kwargs)
        order = order_for(*args, **kwargs)
        return wrap(made) if order is None else laid(made, in_order(made.type.shape, order))

    def above(*args: Any, **kwargs: Any) -> Any:
        if is_differentiated() and any(isinstance(x, Tensor) and x.requires_grad for x in args):
            return composed(*args, **kwargs)
        if forward_ad._current_level >= 0:
            return composed(*args, **kwargs)
        return below(*args, **kwargs)

    return above, below


for name, row in ROWS.items():
    above, below = _kernels(name, row)
    register(name, below, has_derivative=True)
    register_above(name, above, bound_of(name))
