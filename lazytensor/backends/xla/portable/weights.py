"""Weights as constants of a portable module, for formats that have no file for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import element_type
from lazytensor.backends.xla.portable.modules import main, parsed, retype, serialized
from lazytensor.core.ir.dtypes import BOOL


def inlined(data: bytes, weights: Sequence[np.ndarray]) -> bytes:
    """The program with its last parameters as constants."""
    module = parsed(data)
    with client.context(), ir.Location.unknown():
        function = main(module)
        block = function.regions[0].blocks[0]
        first = len(block.arguments) - len(weights)
        with ir.InsertionPoint.at_block_begin(block):
            for x in reversed(weights):
                at = len(block.arguments) - 1
                made = ir.Operation.create(
                    "stablehlo.constant", [block.arguments[at].type], [], {"value": _elements(x)}
                )
                block.arguments[at].replace_all_uses_with(made.result)
                block.erase_argument(at)
        assert len(block.arguments) == first
        retype(function)
    return serialized(module)


def _elements(x: np.ndarray) -> ir.Attribute:
    type = ir.RankedTensorType.get(x.shape, element_type(x.dtype))
    if x.dtype == BOOL:
        return ir.DenseElementsAttr.get(np.packbits(x, bitorder="little"), type=type)
    bits = x if x.dtype.isbuiltin == 1 else x.view(f"u{x.dtype.itemsize}")
    return ir.DenseElementsAttr.get(np.ascontiguousarray(bits), type=type)
