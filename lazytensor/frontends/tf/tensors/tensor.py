"""TensorFlow tensors that hold a node, and the way between nodes and TF's own tensors.

A lazy tensor says that its class is TF's own, so that TF's Python takes it; TF's C++ asks for the
exact type, so that one that leaks into a kernel is refused and never dereferenced. TF's tape knows
tensors by `_id`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops, tensor_shape

from lazytensor.core.buffers.interop import Offer
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, leaf, scalar
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.tf.tensors.lifetime import begin, end, state

EagerTensor: Final[Any] = ops.EagerTensor
Base: Any = ops._EagerTensorBase
_EXPORTS: Final = hasattr(EagerTensor, "__dlpack__")
"""TensorFlow's tensors have the methods of DLPack since 2.20."""
_DLPACK_CPU: Final = 1
DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"

_HELD: Final = (
    dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
    dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.float16, dtypes.bfloat16, dtypes.float32,
    dtypes.float64, dtypes.complex64, dtypes.complex128, dtypes.float8_e4m3fn, dtypes.float8_e5m2,
)  # fmt: skip
TF: Final[dict[np.dtype, Any]] = {np.dtype(d.as_numpy_dtype): d for d in _HELD}
NUMPY: Final[dict[int, np.dtype]] = {d.as_datatype_enum: n for n, d in TF.items()}
"""Per number that TF has for a dtype: the dtype."""


class ValueNeeded(Exception):
    """A function's body asked for a value that only its arguments tell."""


class _Posed(type(Base)):  # type: ignore[misc]
    """The class of a class that equals TF's own: programs ask for `type(x) == type(y)`, too."""

    def __eq__(cls, other: object) -> bool:
        return other is EagerTensor or type(other) is _Posed

    def __hash__(cls) -> int:
        return hash(EagerTensor)


class Posing(Base, metaclass=_Posed):
    """What TensorFlow's Python takes for an eager tensor of its own."""

    __slots__ = ()

    @property
    def __class__(self) -> Any:
        return EagerTensor

    @__class__.setter
    def __class__(self, value: Any) -> None:  # pragma: no cover
        raise TypeError("the class of a tensor cannot be changed")


class LazyTensor(Posing):
    """A tensor whose value is a node: recorded, and computed when it is asked for."""

    __slots__ = ("_id", "_listed", "_tensor_shape", "node")

    node: Node

    __init__ = begin
    __del__ = end

    @property
    def dtype(self) -> Any:
        """TF's dtype."""
        return TF[self.node.type.dtype]

    def _datatype_enum(self) -> int:
        return int(TF[self.node.type.dtype].as_datatype_enum)

    def _shape_tuple(self) -> tuple[int, ...]:
        return self.node.type.shape

    def _rank(self) -> int:
        return self.node.type.ndim

    def _num_elements(self) -> int:
        return self.node.type.size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.node.type.ndim

    @property
    def device(self) -> str:
        """Where TF would have it: the results of programs are on the host's side of PJRT."""
        return DEVICE

    backing_device = device
    is_packed = False
    _keras_mask = None
    _handle_data = None

    def _numpy_internal(self) -> Any:
        array = value(self.node)
        return array if array.ndim else array[()]

    _numpy = _numpy_internal

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(value(self.node), dtype=dtype)

    def _copy_to_device(self, *_: Any, **__: Any) -> LazyTensor:
        return self

    def _copy(self, *_: Any, **__: Any) -> LazyTensor:
        return self

    def _prefer_custom_summarizer(self) -> bool:
        return False

    def __dlpack__(self, **options: Any) -> Any:
        if _EXPORTS:
            return eager(self).__dlpack__(**options)
        return pywrap_tfe.TFE_ToDlpackCapsule(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CPU, 0

    def __lazytensor__(self) -> Offer:
        return Offer(self.node)

    def __reduce__(self) -> Any:
        return ops.convert_to_tensor, (np.asarray(self._numpy()),)


def value(node: Node) -> np.ndarray:
    """The value on the host, not to be written to; computed now if it is pending."""
    if state.tracing and node.value is None:
        raise ValueNeeded
    return scheduler.observe(node)


def of_array(array: np.ndarray) -> Any:
    """TF's own tensor with the data of an array."""
    return EagerTensor(
        array, device=context.context().device_name, dtype=TF[array.dtype].as_datatype_enum
    )


def eager(x: Any) -> Any:
    """TF's own tensor with the value of a lazy one, computed now if it is pending."""
    return of_array(value(x.node)) if type(x) is LazyTensor else x


def node_of(x: Any) -> Node | None:
    """The node of a lazy tensor, or of one of TF's own: a leaf, or a slot of one element.

    None for a dtype that XLA has not. What is made for a tensor of TF's is kept on it, so that its
    data is handed to the backend once.
    """
    if type(x) is LazyTensor:
        return x.node
    known: Node | None = getattr(x, "_lazy_node", None)
    if known is None:
        dtype = NUMPY.get(x._datatype_enum())
        if dtype is None:
            return None
        data = x._numpy()
        if isinstance(data, np.ndarray):
            known = leaf(data)
        else:
            known = scalar(data.item(), dtype)
        x._lazy_node = known
    return known


def as_leaf(node: Node) -> Node:
    """`node`, or if it is a slot, a leaf: what a variable holds is data of every program."""
    if node.op is not SLOT:
        return node
    return leaf(np.asarray(node.value, node.type.dtype))


def own_leaf(array: np.ndarray) -> Node:
    """A leaf with a copy of the data."""
    return leaf(copied(array))


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a tensor, or of an object that can become one."""
    if type(x) is LazyTensor:
        return x.node.type.shape
    if type(x) is EagerTensor:
        return tuple(x._shape_tuple())
    shape = getattr(x, "shape", None)
    if isinstance(shape, tensor_shape.TensorShape):
        return tuple(shape.as_list())
    return tuple(np.shape(x) if shape is None else shape)
