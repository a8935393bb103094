"""Random bits on XLA:CPU: a block is computed once, and in vectors."""

import math
import re

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, U32, U64
from lazytensor.core.ir.op import leaf
from lazytensor.core.ops.random import PHILOX_FACTORS, PHILOX_ROUNDS
from tests.xla.optimised import optimised

pytestmark = pytest.mark.usefixtures("compiled")
STATE = np.array([1, 2], np.uint64)


@pytest.mark.parametrize("dtype", [U32, U64], ids=str)
@pytest.mark.parametrize("shape", [(64, 20, 20), (8191,)], ids=str)
def test_blocks_are_computed_once_whatever_needs_them(
    shape: tuple[int, ...], dtype: np.dtype
) -> None:
    state = leaf(STATE)
    _, bits = ops.rng_bit_generator(state, shape=shape, dtype=dtype, algorithm="PHILOX")
    flags = ops.less(bits, ops.scalar(2**31, dtype))
    floats, total = ops.convert(bits, dtype=F32), ops.reduce_sum(bits, axes=(0,))
    text = optimised([floats, flags, total])
    blocks = -(-math.prod(shape) * dtype.itemsize // 16)
    products = re.findall(rf"= u64\[{blocks}\b\S* multiply\(", text)
    assert len(products) == len(PHILOX_FACTORS) * PHILOX_ROUNDS
    assert "concatenate" not in text
