"""The bridge is asked for the platform in use. A CPU's text serves if it calls no library."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lazytensor.frontends.tf.dispatch.bridge import stablehlo

SPECS = (tf.TensorSpec((4, 4)),)


@tf.function(jit_compile=True)
def plain(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.lrn(tf.reshape(x, (1, 2, 2, 4)))


@tf.function(jit_compile=True)
def factored(x: tf.Tensor) -> tf.Tensor:
    return tf.linalg.eigh(x)[0]


@pytest.mark.parametrize("platform", ["CPU", "GPU", "TPU"])
def test_an_op_of_plain_stablehlo_is_written_for_each(platform: str) -> None:
    assert "func.func @main" in stablehlo(plain, SPECS, platform)


def test_a_call_of_a_cpus_library_is_not_written_for_another() -> None:
    with pytest.raises(ValueError, match="SelfAdjointEig"):
        stablehlo(factored, SPECS, "GPU")
