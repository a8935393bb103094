"""A convolution as a framework's own function, called back by XLA.

XLA:CPU has no fast kernel for the gradient of a kernel, and slow ones for large pictures.
"""

from __future__ import annotations

from typing import Any

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.callbacks import called
from lazytensor.backends.xla.convolution.placement import Window
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.core import ops
from lazytensor.core.device.host_threads import SPINNING
from lazytensor.core.interpreter.convolutions import Role, call_of
from lazytensor.core.interpreter.rows import HOST_KERNELS
from lazytensor.core.ir.types import TensorType


def by_library(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """The convolution, see `role`."""
    named = _attributes(window)
    attrs = tuple(named[name] for name in ops.convolution.attributes)
    made: Value = called(e, ops.convolution.name, type, (x, w), attrs)
    return made


def role(type: TensorType, x: TensorType, w: TensorType, window: Window) -> Role | None:
    """What the framework's function computes; None if there is none, or its threads spin."""
    kernel, attributes = HOST_KERNELS.get(ops.convolution.name), _attributes(window)
    if kernel is None or SPINNING:
        return None
    call = call_of((x, w), type, **attributes)
    if call is None or kernel((x, w), type, **attributes) is None:
        return None
    return call.role


def _attributes(window: Window) -> dict[str, Any]:
    """The attributes of the op that this window is of."""
    return {
        "strides": window.strides,
        "padding": window.padding,
        "lhs_dilation": window.outer,
        "rhs_dilation": window.inner,
        "feature_groups": window.feature_groups,
        "batch_groups": window.batch_groups,
        "dimensions": (window.data, window.kernel, window.result),
        "reversal": window.backward,
    }
