"""A lazy TensorFlow: `lazytensor.tf.enable()`, and ordinary tf and Keras code from there on.

`with lazytensor.tf.enabled(): …` does the same for a block; `disable()` ends it. It applies to the
calling thread only. No other call is needed: an optimizer's `apply`, the end of a function and
reading a value compute the recorded operations. `from_lazy`, and TensorFlow's functions while
recording, take lazy arrays of other frontends without computing them. `shard` splits a tensor over
many devices.
"""

from lazytensor.frontends.tf.dispatch.switch import UnsupportedTensorFlow, disable, enable, enabled
from lazytensor.frontends.tf.tensors.sharing import from_lazy, from_local, shard
from lazytensor.sharding import Mesh

__all__ = [
    "Mesh",
    "UnsupportedTensorFlow",
    "disable",
    "enable",
    "enabled",
    "from_lazy",
    "from_local",
    "shard",
]
