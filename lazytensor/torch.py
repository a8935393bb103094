"""A lazy device for torch: `import lazytensor.torch`, then `device="lazytensor"`.

`torch.lazytensor` is the device's module (`synchronize`, `manual_seed`, …). Nothing has to be
called: an optimizer's `step()` computes what it recorded, and so does looking at a value.
"""

from lazytensor.frontends.torch import device

__all__ = ["device"]
