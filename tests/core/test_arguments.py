"""Where the values of leaves are while the host and programs use them in turns."""

import numpy as np

from lazytensor.core.device.backend import backend
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.runtime.arguments import LOOKS_BOUND, argument, host_value


def test_a_value_that_the_host_looks_at_often_stays_there() -> None:
    data = np.arange(4.0)
    held = leaf(backend().to_device(data.copy(), owned=True), tensor_type(data.dtype, data.shape))
    looks = []
    for _ in range(8):
        count = 0
        while not isinstance(held.value, np.ndarray):
            assert host_value(held).tolist() == data.tolist()
            count += 1
        looks.append(count)
        argument(held, shared=False)  # a program takes it to the device
    assert looks == [2, 4, 8, 16, 32, LOOKS_BOUND, LOOKS_BOUND, LOOKS_BOUND]
