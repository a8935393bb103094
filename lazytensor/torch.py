"""A lazy device for torch: `import lazytensor.torch`, then `device="lazytensor"`.

`torch.lazytensor` is the device's module (`synchronize`, `manual_seed`, …). No call is needed: an
optimizer's `step()` and reading a value compute the recorded operations.
`wrap` makes a module that takes and returns CPU tensors. `torch.compile(f, backend="lazytensor")`
uses torch's guards instead of recording. `torch.from_dlpack`, `from_numpy`, `as_tensor` and
`asarray` share lazy arrays of the other frontends without computing them, as `from_lazy` does.
`shard`, `mark_sharding`, `data_parallel` and `from_local` use many devices.
"""

from typing import Any

from lazytensor.frontends.torch.device import registration as device
from lazytensor.frontends.torch.device.compilation import backend
from lazytensor.frontends.torch.tensors.sharing import from_lazy
from lazytensor.frontends.torch.tensors.splitting import data_parallel, from_local, shard
from lazytensor.frontends.torch.tensors.wrapping import wrap
from lazytensor.sharding import Mesh, mark_sharding


def as_lazy_numpy(tensor: Any) -> Any:
    """A lazy NumPy array that shares the tensor's storage, as `Tensor.numpy()` shares memory.

    Nothing is computed. Raises: TypeError if the tensor is not on the device; RuntimeError if it
    requires a gradient. `lazytensor.numpy.asarray(tensor)` does the same, and takes any array.
    """
    from lazytensor.frontends.numpy.interop.interchange import shared

    made = shared(tensor)
    if made is None:
        raise TypeError(f"as_lazy_numpy: a tensor on the device is needed, got {tensor!r:.80}")
    return made


__all__ = [
    "Mesh",
    "as_lazy_numpy",
    "backend",
    "data_parallel",
    "device",
    "from_lazy",
    "from_local",
    "mark_sharding",
    "shard",
    "wrap",
]
