"""A lazy TensorFlow: `lazytensor.tf.enable()`, and ordinary tf and Keras code from there on.

`with lazytensor.tf.enabled(): …` does the same for a block; `disable()` ends it. It holds for the
calling thread only. Nothing else has to be called: an optimizer's `apply` and the end of a function
compute what was recorded, and so does looking at a value. `from_lazy`, and TensorFlow's functions
while recording, take lazy arrays of other frontends without computing them.
"""

from lazytensor.frontends.tf.dispatch.switch import UnsupportedTensorFlow, disable, enable, enabled
from lazytensor.frontends.tf.tensors.sharing import from_lazy

__all__ = ["UnsupportedTensorFlow", "disable", "enable", "enabled", "from_lazy"]
