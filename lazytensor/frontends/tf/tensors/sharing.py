"""Arrays of other frontends as tensors, and what tensors and variables show to other frontends.

A tensor never changes: it is a copy of an array's present value, and arrays made from it are copies
too. A copy costs nothing until one side is written to (`core/buffers/interop.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op
from tensorflow.python.framework import tensor_conversion_registry as registry
from tensorflow.python.ops import resource_variable_ops

from lazytensor.core.buffers.interop import METHOD, Offer, offered
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.sharding import Mesh, Spec, sharding
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace.splitting import joined, split
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import TF, LazyTensor
from lazytensor.frontends.tf.tensors.variables import hold


def from_lazy(array: Any) -> Any:
    """A tensor with the present value of any frontend's lazy array; nothing is computed.

    In a thread that does not record, the values are computed now; the tensor is TensorFlow's own.
    array: also anything that `tf.convert_to_tensor` takes.
    Raises: TypeError for a dtype that TensorFlow lacks; torch's own error for a tensor that
    requires a gradient.
    """
    offer = offered(array)
    if offer is None:
        return constant_op.constant(array)
    made = taken(offer)
    if made is None:
        raise TypeError(f"from_lazy: TensorFlow has no dtype for {offer.node.type}")
    return made if state.on else constant_op.constant(values(offer))


def shard(x: Any, mesh: Mesh, spec: Spec = ()) -> Any:
    """A tensor with the present value of `x`, split over a mesh. No gradient flows through it.

    x: a tensor, or what TensorFlow makes one of, of a thread that records. spec: per axis of `x`
    the name of the mesh's axis that splits it, None for nothing, or several names.
    Raises: ValueError, ShapeError, as `lazytensor.shard`; RuntimeError in a thread that does not
    record.
    """
    node = _recorded("shard", x)
    return taken(Offer(split(node, sharding(mesh, spec, node.type.shape))))


def from_local(local: Any, mesh: Mesh, spec: Spec = ()) -> Any:
    """A tensor of which each process gives its own part: one batch of the data of all.

    local: this process's part, a tensor, or what TensorFlow makes one of. No gradient flows
    through. See `lazytensor.from_local`; raises RuntimeError in a thread that does not record.
    """
    own = scheduler.fetch(_recorded("from_local", local))
    return taken(Offer(joined(own, mesh, spec)))


def _recorded(name: str, x: Any) -> Node:
    """The node of `x` as a tensor. name: the user's function. Raises: RuntimeError, naming it."""
    if not state.on:
        text = "this thread does not record; call lazytensor.tf.enable() first"
        raise RuntimeError(f"{name}: {text}")
    return (offered(x) or Offer(leaf(np.asarray(constant_op.constant(x))))).node


def taken(offer: Offer) -> LazyTensor | None:
    """A tensor with the offered node; None for a dtype that TensorFlow lacks."""
    return LazyTensor(offer.node) if offer.node.type.dtype in TF else None


def values(offer: Offer) -> np.ndarray:
    """The offered values, computed now."""
    return np.array(scheduler.observe(offer.node))


def _converted(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    """What TensorFlow's own operations, and graphs, take for an array of another frontend."""
    if isinstance(value, LazyTensor) or (state.on and context.executing_eagerly()):
        return NotImplemented
    offer = offered(value)
    if offer is None or offer.node.type.dtype not in TF:
        return NotImplemented
    return constant_op.constant(values(offer), dtype, name=name)


def _offer(variable: Any) -> Offer | None:
    """What a variable holds now; None in a thread that does not record."""
    held: Any = variable.value() if state.on else None
    if type(held) is not LazyTensor:
        return None
    return Offer(held.node, assign=partial(hold, variable.handle))


def attach() -> None:
    """Let other frontends take the values of variables."""
    setattr(resource_variable_ops.BaseResourceVariable, METHOD, _offer)
    # Before TensorFlow's own for any object, which asks for `__array__`.
    registry.register_tensor_conversion_function(object, _converted, priority=99)
