"""Samples of operations that come as StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ops.foreign import Foreign
from tests.ops.sample import Refusal, Sample

TEXT = """
module @anything {
  func.func private @square(%x: tensor<3xf64>) -> tensor<3xf64> {
    %y = stablehlo.multiply %x, %x : tensor<3xf64>
    return %y : tensor<3xf64>
  }
  func.func @main(%x: tensor<3xf64>, %n: tensor<i32>) -> (tensor<3xf64>, tensor<i1>) {
    %y = call @square(%x) : (tensor<3xf64>) -> tensor<3xf64>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %flag = stablehlo.compare LT, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %y, %flag : tensor<3xf64>, tensor<i1>
  }
}
"""


def _run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [arrays[0] * arrays[0], arrays[1] < 0]


BOTH = {"module": Foreign("both", TEXT, _run)}
ONE = TEXT.replace(", tensor<i1>)", ")").replace("return %y, %flag : ", "return %y : ")
ONE = ONE.replace("tensor<3xf64>, tensor<i1>", "tensor<3xf64>")
X, N = np.array([1.0, -2.0, 0.5]), np.int32(-3)

SAMPLES = [
    Sample(ops.foreign, (X, N), BOTH),
    Sample(ops.foreign, (X, N), {"module": Foreign("one", ONE, lambda arrays: _run(arrays)[:1])}),
]
REFUSALS = [
    Refusal(ops.foreign, (X[:2], N), ShapeError, BOTH),
    Refusal(ops.foreign, (X.astype(np.float32), N), DTypeError, BOTH),
]
