"""The operations that torch's attention modules call in inference: one for an encoder's layer.

Torch's kernels treat numeric masks as flags, and remove padding by nested tensors. Here a numeric
mask is added. The device has no nested tensors, so an encoder computes its padding as well.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from lazytensor.frontends.torch.dispatch.kernels import composition
from lazytensor.frontends.torch.dispatch.kernels import functional as kernel_of
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.random.randomness import DEVICE


def _for_all_heads(mask: Any, mask_type: int | None) -> Any:
    """The mask as attention takes it: flags for the keys that count, or numbers to be added."""
    if mask is None:
        return None
    if mask_type == 1:  # of keys, for each sequence
        mask = mask[:, None, None, :]
    return mask.logical_not() if mask.dtype == torch.bool else mask


def _weights(query: Any, key: Any, mask: Any) -> Any:
    scores = query @ key.transpose(-2, -1)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    elif mask is not None:
        scores = scores + mask
    return scores.softmax(-1)


def _attention(
    query: Any, key: Any, value: Any, embed_dim: int, num_head: int, qkv_weight: Any,
    qkv_bias: Any, proj_weight: Any, proj_bias: Any, mask: Any = None, need_weights: bool = True,
    average_attn_weights: bool = True, mask_type: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    if query is key and key is value:
        projected = functional.linear(query, qkv_weight, qkv_bias).chunk(3, -1)
    else:
        lines = zip(qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
        given = zip((query, key, value), lines, strict=True)
        projected = tuple(functional.linear(x, *line) for x, line in given)
    q, k, v = (x.unflatten(-1, (num_head, -1)).transpose(1, 2) for x in projected)
    spread = _for_all_heads(mask, mask_type)
    if need_weights:
        weights = _weights(q * q.shape[-1] ** -0.5, k, spread)
        made = weights @ v
        shown = weights.mean(1) if average_attn_weights else weights
    else:
        made, shown = functional.scaled_dot_product_attention(q, k, v, spread), None
    joined = made.transpose(1, 2).flatten(-2)
    return functional.linear(joined, proj_weight, proj_bias), shown


def _encoder_layer(
    src: Any, embed_dim: int, num_heads: int, qkv_weight: Any, qkv_bias: Any, proj_weight: Any,
    proj_bias: Any, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Any,
    norm_bias_1: Any, norm_weight_2: Any, norm_bias_2: Any, ffn_weight_1: Any, ffn_bias_1: Any,
    ffn_weight_2: Any, ffn_bias_2: Any, mask: Any = None, mask_type: int | None = None,
) -> Any:  # fmt: skip
    def first(x: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def attended(x: Any) -> Any:
        lines = qkv_weight, qkv_bias, proj_weight, proj_bias
        return _attention(x, x, x, embed_dim, num_heads, *lines, mask, False, True, mask_type)[0]

    def fed(x: Any) -> Any:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        inner = functional.gelu(inner) if use_gelu else functional.relu(inner)
        return functional.linear(inner, ffn_weight_2, ffn_bias_2)

    if norm_first:
        made = src + attended(first(src))
        return made + fed(second(made))
    made = first(src + attended(src))
    return second(made + fed(made))


def _no_nested(t: Any, mask: Any) -> bool:
    """Whether a mask lets an encoder make a nested tensor: never. The mask is not read."""
    return False


def _refuse(t: Any, mask: Any, mask_check: bool = True) -> Any:
    raise NotImplementedError(
        f"there are no nested tensors on the device {DEVICE}: make the encoder with "
        "nn.TransformerEncoder(..., enable_nested_tensor=False), or without mask_check=False"
    )


def _unless_cast(name: str, row: Row) -> Row:
    """The row as one node; under autocast its parts, each in its own precision."""
    one = composition(name, row)

    def call(*args: Any, **kwargs: Any) -> Any:
        return (row if torch.is_autocast_enabled(DEVICE) else one)(*args, **kwargs)

    return call


ROWS: dict[str, Row] = {
    "_native_multi_head_attention": _attention,
    "_transformer_encoder_layer_fwd": _encoder_layer,
}


for name, row in ROWS.items():
    register(name, kernel_of(name, _unless_cast(name, row)))
register("_nested_tensor_from_mask_left_aligned", _no_nested)
register("_nested_tensor_from_mask", _refuse)
