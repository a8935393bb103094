"""Torch tensors on the device `lazytensor`: what they hold, and how they are made.

The cell, or the view of one, is kept on the tensor's storage: torch makes new tensor objects for
one storage (what autograd saved, `detach()`, `.data`), and these lose what is set on the tensor.
A view is a tensor with a storage of its own whose handle is a View of the base's cell. To torch
every tensor looks contiguous; aliasing is the core's.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from lazytensor.core import ops, runtime
from lazytensor.core.cell import Cell, Step, View
from lazytensor.core.memory import copied
from lazytensor.core.node import Node
from lazytensor.core.op import leaf
from lazytensor.core.types import Shape, TensorType

create: Final[Any] = torch._C._acc.create_empty_tensor

NUMPY: Final[dict[torch.dtype, np.dtype]] = {
    torch.bool: np.dtype(np.bool_),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.uint8: np.dtype(np.uint8),
    torch.uint16: np.dtype(np.uint16),
    torch.uint32: np.dtype(np.uint32),
    torch.uint64: np.dtype(np.uint64),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(ml_dtypes.bfloat16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
    torch.float8_e4m3fn: np.dtype(ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: np.dtype(ml_dtypes.float8_e5m2),
}
TORCH: Final = {numpy: theirs for theirs, numpy in NUMPY.items()}
NUMBERS: Final = (bool, int, float, complex)
"""What torch hands to a kernel for a Python number."""
_BITS: Final = {1: torch.uint8, 2: torch.int16}
_layouts: Final[dict[TensorType, tuple[Shape, torch.dtype]]] = {}


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """The dtype of torch's name for it. Raises: TypeError where XLA has none."""
    found = NUMPY.get(dtype)
    if found is None:
        raise TypeError(f"{dtype} is not supported on the device lazytensor")
    return found


def is_lazy(x: Any) -> bool:
    """Whether `x` is a tensor on the device."""
    return isinstance(x, Tensor) and x.device.type == "lazytensor"


def ref(x: Any) -> Cell | View:
    """What holds the data of a tensor on the device."""
    found: Cell | View = x.untyped_storage().handle
    return found


def node(x: Any) -> Node:
    """The current value of a tensor on the device."""
    found: Node = x.untyped_storage().handle.node
    return found


def value(x: Any) -> Node:
    """The current value, with the conjugation and negation done that torch puts off."""
    found = node(x)
    if x.is_conj():
        found = ops.conj(found)
    return ops.negate(found) if x.is_neg() else found


def wrap_ref(held: Cell | View) -> Any:
    """A tensor of what `held` holds."""
    type = held.type
    layout = _layouts.get(type)
    if layout is None:
        layout = _layouts[type] = (type.shape, TORCH[type.dtype])
    tensor = create(*layout)
    tensor.untyped_storage().handle = held
    return tensor


def wrap(made: Node) -> Any:
    """A tensor of its own that holds `made`."""
    type = made.type
    layout = _layouts.get(type)
    if layout is None:
        layout = _layouts[type] = (type.shape, TORCH[type.dtype])
    tensor = create(*layout)
    tensor.untyped_storage().handle = Cell(made)
    return tensor


def view(x: Any, *steps: Step) -> Any:
    """A tensor that shows what the `steps` show of `x`."""
    made = wrap_ref(ref(x).view(*steps))
    if x.is_conj():
        torch._C._set_conj(made, True)
    if x.is_neg():
        torch._C._set_neg(made, True)
    return made


def from_cpu(x: Any) -> Node:
    """A leaf with the data of a CPU tensor."""
    dtype = numpy_dtype(x.dtype)
    dense = x.detach().resolve_conj().resolve_neg().contiguous()
    if dtype.isbuiltin != 1:
        return leaf(copied(dense.view(_BITS[dtype.itemsize]).numpy()).view(dtype))
    return leaf(copied(dense.numpy()))


def to_cpu(made: Node) -> Any:
    """A CPU tensor of its own with the value, computed now if it is pending."""
    array = runtime.fetch(made)
    dtype = TORCH[made.type.dtype]
    if array.dtype.isbuiltin != 1:
        bits = np.ascontiguousarray(array).view(f"i{array.dtype.itemsize}")
        return torch.from_numpy(bits.reshape(made.type.shape)).view(dtype)
    return torch.from_numpy(np.asarray(array).reshape(made.type.shape))
