"""Layers of networks, their gradients and updates of parameters, as torch's own CPU kernels.

Each takes one pass over memory where the op's body takes several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import HOST_KERNELS, Reference
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import ResultType, TensorType
from lazytensor.frontends.torch.host.call import on_arrays
from lazytensor.frontends.torch.host.kernels import MEMORY_ELEMENTS, SCALAR_ELEMENTS, SHARED_FLOATS

Kernel = Callable[..., Any]
"""`kernel(*tensors, **attrs)`: the op's results, torch's tensors."""
aten: Final = torch.ops.aten


def _row(
    kernel: Kernel, least: int, operands: Sequence[TensorType], _: ResultType, **attrs: Any
) -> Any:
    """The kernel for operands of one dtype, of which the first has `least` elements or more."""
    dtype = operands[0].dtype
    if dtype not in SHARED_FLOATS or operands[0].size < least:
        return None
    if any(x.dtype != dtype for x in operands):
        return None
    found: Reference = on_arrays(partial(kernel, **attrs))
    return found


def _layer_norm(x: Any, epsilon: Any, *scaling: Any, axes: int) -> Any:
    weight, bias = (*scaling, None, None)[:2]
    return aten.native_layer_norm.default(x, x.shape[-axes:], weight, bias, epsilon.item())


def _layer_norm_inference(*operands: Any, axes: int) -> Any:
    return _layer_norm(*operands, axes=axes)[0]


def _layer_norm_backward(grad: Any, x: Any, mean: Any, scale: Any, *weight: Any, axes: int) -> Any:
    shape = x.shape[-axes:]
    line = weight[0] if weight else x.new_ones(shape)
    return aten.native_layer_norm_backward.default(
        grad, x, shape, mean, scale, line, line, [True, True, True]
    )


def _gelu(x: Any, *, approximate: bool) -> Any:
    return aten.gelu.default(x, approximate="tanh" if approximate else "none")


def _gelu_backward(grad: Any, x: Any, *, approximate: bool) -> Any:
    return aten.gelu_backward.default(grad, x, approximate="tanh" if approximate else "none")


def _softmax(x: Any, *, axis: int) -> Any:
    return aten._softmax.default(x, axis, False)


def _log_softmax(x: Any, *, axis: int) -> Any:
    return aten._log_softmax.default(x, axis, False)


def _masked_softmax(x: Any, *, axis: int) -> Any:
    return aten._safe_softmax.default(x, axis)


def _softmax_backward(grad: Any, y: Any, *, axis: int) -> Any:
    return aten._softmax_backward_data.default(grad, y, axis, y.dtype)


def _log_softmax_backward(grad: Any, y: Any, *, axis: int) -> Any:
    return aten._log_softmax_backward_data.default(grad, y, axis, y.dtype)


def _threshold_backward(grad: Any, x: Any, threshold: Any) -> Any:
    return aten.threshold_backward.default(grad, x, threshold.item())


def _lerp(x: Any, end: Any, weight: Any) -> Any:
    return aten.lerp.Tensor(x, end, weight)


def _add_product(x: Any, a: Any, b: Any, factor: Any) -> Any:
    if factor.ndim:
        return x + factor * (a * b)
    return aten.addcmul.default(x, a, b, value=factor.item())


def _add_quotient(x: Any, a: Any, b: Any, factor: Any) -> Any:
    if factor.ndim:
        return x + factor * a / b
    return aten.addcdiv.default(x, a, b, value=factor.item())


LAYERS: Final[dict[Op[Any], Kernel]] = {
    ops.gelu: _gelu,
    ops.gelu_backward: _gelu_backward,
    ops.layer_norm: _layer_norm,
    ops.layer_norm_backward: _layer_norm_backward,
    ops.layer_norm_inference: _layer_norm_inference,
    ops.log_softmax: _log_softmax,
    ops.log_softmax_backward: _log_softmax_backward,
    ops.softmax: _softmax,
    ops.masked_softmax: _masked_softmax,
    ops.softmax_backward: _softmax_backward,
}
MASKS: Final[dict[Op[Any], Kernel]] = {ops.threshold_backward: _threshold_backward}
UPDATES: Final[dict[Op[Any], Kernel]] = {
    ops.add_product: _add_product,
    ops.add_quotient: _add_quotient,
    ops.lerp: _lerp,
}
HOST_KERNELS.update({op.name: partial(_row, f, SCALAR_ELEMENTS) for op, f in LAYERS.items()})
HOST_KERNELS.update({op.name: partial(_row, f, MEMORY_ELEMENTS) for op, f in MASKS.items()})
HOST_KERNELS.update({op.name: partial(_row, f, 1) for op, f in UPDATES.items()})
