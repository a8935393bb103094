"""TensorFlow, lazily: importing this builds the tables; nothing changes until `enable()`."""

from __future__ import annotations

from os.path import dirname

import tensorflow

from lazytensor.core.ir import library_files
from lazytensor.frontends.tf.dispatch import bridge, keras_distribution, steps
from lazytensor.frontends.tf.dispatch.switch import disable, enable, enabled
from lazytensor.frontends.tf.host import convolution as host_convolution
from lazytensor.frontends.tf.host import raw_ops as host_raw_ops
from lazytensor.frontends.tf.rows import (
    contraction,
    convolution,
    elementwise,
    indexing,
    linalg,
    lists,
    movement,
    neural,
    optimizers,
    pooling,
    random,
    reductions,
    rejection,
    resampling,
    segments,
    shapes,
    slices,
    sorting,
    special,
    state_ops,
    warping,
)
from lazytensor.frontends.tf.tensors import sharing

lists.attach()
sharing.attach()
steps.attach()
keras_distribution.attach()
for folder in (dirname(tensorflow.__file__), dirname(dirname(tensorflow.__file__)) + "/keras"):
    library_files.hide_folder(folder)

__all__ = ["disable", "enable", "enabled"]
