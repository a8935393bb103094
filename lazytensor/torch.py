"""A lazy device for torch: `import lazytensor.torch`, then `device="lazytensor"`.

`torch.lazytensor` is the device's module (`synchronize`, `manual_seed`, …). Nothing has to be
called: an optimizer's `step()` computes what it recorded, and so does looking at a value.
`wrap` makes a module that takes and gives CPU tensors; `torch.compile(f, backend="lazytensor")`
lets torch's guards take the place of recording. `from_lazy` and `as_lazy_numpy` pass arrays between
torch and the other frontends, without computing them.
"""

from lazytensor.frontends.torch import device
from lazytensor.frontends.torch.compilation import backend
from lazytensor.frontends.torch.sharing import as_lazy_numpy, from_lazy
from lazytensor.frontends.torch.wrapping import wrap

__all__ = ["as_lazy_numpy", "backend", "device", "from_lazy", "wrap"]
