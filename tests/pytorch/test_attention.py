"""Encoders and attention in inference: the CPU's values, nothing falls back, one node a layer."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor.core.ir.recording import nodes_made

pytestmark = pytest.mark.usefixtures("no_fallback")

SHORT = torch.arange(5) >= torch.tensor([[5], [3], [1]])
"""The padding of three sequences."""
FUTURE = torch.ones(5, 5, dtype=torch.bool).triu(1)
NUMBERS = nn.Transformer.generate_square_subsequent_mask(5)

LAYERS: dict[str, dict[str, Any]] = {
    "norm last": {},
    "norm first": {"norm_first": True},
    "gelu": {"activation": "gelu"},
    "no bias": {"bias": False},
    "time first": {"batch_first": False},
}
MASKS: dict[str, dict[str, Any]] = {
    "no mask": {},
    "padding": {"src_key_padding_mask": SHORT},
    "flags": {"mask": FUTURE},
    "numbers": {"mask": NUMBERS},
    "both": {"mask": FUTURE, "src_key_padding_mask": SHORT},
    "causal": {"mask": NUMBERS, "is_causal": True},
}


def there(tree: Any) -> Any:
    return {name: x.to("lazytensor") if hasattr(x, "to") else x for name, x in tree.items()}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.filterwarnings("ignore:Converting mask without torch.bool")
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("layer", LAYERS)
def test_encoders_give_what_they_give_on_the_cpu(layer: str, mask: str, mode: Any) -> None:
    options = {"batch_first": True, "dim_feedforward": 16, **LAYERS[layer]}
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, **options), 2).eval()
    moved = copy.deepcopy(net).to("lazytensor")
    x = torch.randn(3, 5, 8) if options["batch_first"] else torch.randn(5, 3, 8)
    with mode():
        expected = net(x, **MASKS[mask])
        found = moved(x.to("lazytensor"), **there(MASKS[mask])).cpu()
    if "src_key_padding_mask" in MASKS[mask]:  # of which the CPU makes zeros, or not
        expected, found = (
            y[~SHORT] if options["batch_first"] else y.transpose(0, 1)[~SHORT]
            for y in (expected, found)
        )
    torch.testing.assert_close(found, expected)


@pytest.mark.filterwarnings("ignore:Converting mask without torch.bool")
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("mask", [{}, {"key_padding_mask": SHORT}, {"attn_mask": FUTURE}])
def test_attention_in_inference(mask: Any, weights: bool, average: bool) -> None:
    options = {"need_weights": weights, "average_attn_weights": average}
    net = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    moved = copy.deepcopy(net).to("lazytensor")
    x = torch.randn(3, 5, 8)
    y = x.to("lazytensor")
    with torch.no_grad():
        expected = net(x, x, x, **mask, **options)
        found = moved(y, y, y, **there(mask), **options)
    assert (found[1] is None) == (expected[1] is None)
    torch.testing.assert_close([z.cpu() for z in found if z is not None],
                               [z for z in expected if z is not None])  # fmt: skip


def test_a_mask_of_numbers_is_added_as_in_training() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval().to("lazytensor")
    x, mask = torch.randn(3, 5, 8).to("lazytensor"), torch.randn(5, 5).to("lazytensor")
    expected = layer(x, mask).detach()
    with torch.no_grad():
        torch.testing.assert_close(layer(x, mask).cpu(), expected.cpu())


def test_a_layer_is_one_node() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval().to("lazytensor")
    x = torch.randn(3, 5, 8).to("lazytensor")
    with torch.no_grad():
        layer(x)
        before = nodes_made()
        layer(x)
    assert nodes_made() - before == 1


def test_under_autocast_products_are_narrow_and_norms_are_not() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval().to("lazytensor")
    x = torch.randn(3, 5, 8).to("lazytensor")
    with torch.no_grad():
        for _ in range(2):
            with torch.autocast("lazytensor", dtype=torch.bfloat16):
                cast = layer(x)
            plain = layer(x)
    assert cast.dtype == plain.dtype == torch.float32
    assert not torch.equal(cast.cpu(), plain.cpu())
    torch.testing.assert_close(cast.cpu(), plain.cpu(), rtol=5e-2, atol=5e-2)


def test_nested_tensors_are_refused_with_what_to_do() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    net = nn.TransformerEncoder(layer, 1, mask_check=False).eval().to("lazytensor")
    x = torch.randn(3, 5, 8).to("lazytensor")
    with torch.no_grad(), pytest.raises(NotImplementedError, match="enable_nested_tensor=False"):
        net(x, src_key_padding_mask=SHORT.to("lazytensor"))
