"""The convolution and its gradients, as torch's own kernels compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from lazytensor.core.interpreter.convolutions import ConvolutionCall, Role, call_of
from lazytensor.core.interpreter.rows import Reference
from lazytensor.core.ir.types import TensorType
from lazytensor.frontends.torch.host.call import on_arrays

aten: Final = torch.ops.aten


def convolution(operands: Sequence[TensorType], type: TensorType, **attrs: Any) -> Reference | None:
    """Torch's kernel of a convolution of these types, if it has one. The third operand: a bias."""
    call = call_of(operands[:2], type, **attrs)
    if call is None or not all(call.takes_bias(bias, type) for bias in operands[2:]):
        return None
    pads = [low for low, _ in call.padding]
    # What torch adds at the end of a transposed convolution: it pads both ends alike.
    extra = [low - high for low, high in call.padding]
    bounds = (1,) * len(pads) if call.role is Role.PLAIN else call.strides
    if any(not 0 <= e < bound for e, bound in zip(extra, bounds, strict=True)):
        return None
    return on_arrays(_KERNELS[call.role](call, type, pads, extra))


def _plain(call: ConvolutionCall, _: TensorType, pads: list[int], __: list[int]) -> Any:
    zero = [0] * len(pads)

    def kernel(x: Any, w: Any, *bias: Any) -> Any:
        x, w = x.permute(call.orders[0]), w.permute(call.orders[1])
        made = aten.convolution.default(
            x, w, _line(bias), call.strides, pads, call.gaps, False, zero, call.groups
        )
        return made.permute(call.back).contiguous()

    return kernel


def _of_input(call: ConvolutionCall, _: TensorType, pads: list[int], extra: list[int]) -> Any:
    def kernel(grad: Any, w: Any, *bias: Any) -> Any:
        grad, w = grad.permute(call.orders[0]), w.permute(call.orders[1]).transpose(0, 1)
        made = aten.convolution.default(
            grad, w, _line(bias), call.strides, pads, call.gaps, True, extra, 1
        )
        return made.permute(call.back).contiguous()

    return kernel


def _of_kernel(call: ConvolutionCall, type: TensorType, pads: list[int], _: list[int]) -> Any:
    first, second, *space = (type.shape[i] for i in call.orders[2])
    shape, zero, only = [second, first, *space], [0] * len(space), [False, True, False]

    def kernel(x: Any, grad: Any) -> Any:
        x, grad = (
            t.permute(order).transpose(0, 1)
            for t, order in zip((x, grad), call.orders[:2], strict=True)
        )
        w = grad.new_empty(shape)
        found = aten.convolution_backward.default(
            grad, x, w, None, call.strides, pads, call.gaps, False, zero, 1, only
        )
        return found[1].transpose(0, 1).permute(call.back).contiguous()

    return kernel


def _line(bias: Sequence[Any]) -> Any:
    """The bias as torch takes it; None where there is none."""
    return bias[0].reshape(-1) if bias else None


_KERNELS: Final[dict[Role, Callable[..., Any]]] = {
    Role.PLAIN: _plain,
    Role.OF_INPUT: _of_input,
    Role.OF_KERNEL: _of_kernel,
}
