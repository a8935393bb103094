"""Equal programs on a mesh, in three frameworks: the first is compiled, the others run it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import torch

import lazytensor
import lazytensor.numpy as lnp
import lazytensor.tf
import lazytensor.torch
from lazytensor import Mesh
from lazytensor.core.runtime.program_cache import cache
from lazytensor.sharding import sharding_of

MESH = Mesh((4, 2), ("data", "model"))
R = np.random.default_rng(0)
BATCH, FIRST, SECOND = (R.standard_normal((32, 32), np.float32) / 6 for _ in range(3))
SPECS = (("data",), (None, "model"), ("model",))


def mlp(np: Any, x: Any, w: Any, v: Any) -> Any:
    return np.tanh(x @ w) @ v


def attention(np: Any, q: Any, k: Any, v: Any) -> Any:
    weights = np.exp(q @ k)
    return (weights @ v) * 0.5


def by_numpy(program: Callable[..., Any], arrays: Any) -> tuple[Any, np.ndarray]:
    found = program(lnp, *map(lazytensor.shard, arrays, [MESH] * 3, SPECS))
    lazytensor.sync(found)
    return found, np.asarray(found)


def by_torch(program: Callable[..., Any], arrays: Any) -> tuple[Any, np.ndarray]:
    given = map(lazytensor.torch.shard, map(torch.tensor, arrays), [MESH] * 3, SPECS)
    with torch.no_grad():
        found = program(torch, *given)
    lazytensor.sync(found)
    return found, found.cpu().numpy()


def by_tensorflow(program: Callable[..., Any], arrays: Any) -> tuple[Any, np.ndarray]:
    with lazytensor.tf.enabled():
        given = map(lazytensor.tf.shard, map(tf.constant, arrays), [MESH] * 3, SPECS)
        found = program(tf, *given)
        lazytensor.sync(found)
        return found, found.numpy()


@pytest.mark.parametrize("program", [mlp, attention])
def test_one_compile_serves_all(
    program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazytensor.settings, "disk", False)
    cache.clear()
    lazytensor.metrics.reset()
    results = [by(program, (BATCH, FIRST, SECOND)) for by in (by_numpy, by_torch, by_tensorflow)]
    assert lazytensor.metrics.counts["compiles"] == 1
    for found, values in results:
        np.testing.assert_array_equal(values, results[0][1])
        assert sharding_of(found) is sharding_of(results[0][0])
    np.testing.assert_allclose(values, program(np, BATCH, FIRST, SECOND), rtol=1e-4, atol=1e-5)
