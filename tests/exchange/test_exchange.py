"""Laws of passing arrays between frameworks: nothing is computed, and which writes are seen."""

from __future__ import annotations

import gc
import threading
from weakref import ref

import numpy
import pytest
import tensorflow as tf
import torch

import lazytensor
import lazytensor.numpy as lnp
from lazytensor import metrics, settings
from lazytensor.core.buffers.interop import offered
from lazytensor.core.ir.dtypes import STORED
from lazytensor.frontends.tf.tensors.tensor import TF
from lazytensor.frontends.torch.tensors.tensor import TORCH

from .frameworks import DIRECTIONS, FRAMEWORKS, ROUTES, ways

pytestmark = pytest.mark.usefixtures("recording")
DATA = numpy.arange(12.0).reshape(3, 4)
GAPS = {"numpy": set(), "torch": STORED - set(TORCH), "tf": STORED - set(TF)}
"""Per framework: the dtypes that it has not."""


@pytest.mark.parametrize(("source", "to", "way"), ROUTES)
def test_a_pending_array_crosses_without_a_cut(source: str, to: str, way: str) -> None:
    one, other = FRAMEWORKS[source], FRAMEWORKS[to]
    metrics.reset()
    x = one.double(one.make(DATA))
    node = offered(x).node
    y = ways(to)[way](x)
    assert way in ("ufunc", "function", "operand") or offered(y).node is node
    made = other.double(y)
    assert metrics.counts["cuts"] == 0
    numpy.testing.assert_array_equal(other.values(made), 4 * DATA)
    assert (metrics.counts["cuts"], metrics.counts["fallbacks"]) == (1, 0)


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize(("source", "to", "way"), ROUTES)
def test_who_sees_a_write(source: str, to: str, way: str, settled: bool) -> None:
    """Both sides where both can be written to and the way in shares; else neither."""
    one, other = FRAMEWORKS[source], FRAMEWORKS[to]
    x = one.double(one.make(DATA))
    if settled:
        lazytensor.sync()
    y = ways(to)[way](x)
    shares = way in other.share and one.write is not None
    seen, known = 2 * DATA, 2 * DATA
    if one.write is not None:
        one.write(x)
        seen = seen + 1
        known = known + shares
    if settled:
        lazytensor.sync()
    if other.write is not None:
        other.write(y)
        known = known + 1
        seen = seen + shares
    numpy.testing.assert_array_equal(one.values(x), seen)
    numpy.testing.assert_array_equal(other.values(y), known)


@pytest.mark.parametrize(("source", "to"), DIRECTIONS)
def test_what_crossed_lives_on_and_nothing_is_left_behind(source: str, to: str) -> None:
    one, other = FRAMEWORKS[source], FRAMEWORKS[to]
    x = one.double(one.make(DATA))
    node = ref(offered(x).node)
    y = next(iter(ways(to).values()))(x)
    del x
    gc.collect()
    numpy.testing.assert_array_equal(other.values(y), 2 * DATA)
    del y
    gc.collect()
    assert node() is None


@pytest.mark.parametrize(("source", "to"), DIRECTIONS)
def test_dtypes_cross_or_are_refused(source: str, to: str) -> None:
    take = next(iter(ways(to).values()))
    for dtype in STORED - GAPS[source]:
        x = next(iter(ways(source).values()))(lnp.zeros((2, 3), dtype))
        if dtype in GAPS[to]:
            with pytest.raises(TypeError, match="has no dtype for"):
                take(x)
        else:
            assert offered(take(x)).node.type == offered(x).node.type


@pytest.mark.parametrize("to", ["torch", "tf"])
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[::2, 1:3],
        lambda x: x[1],
        lambda x: x[:, ::-1],
        lambda x: lnp.broadcast_to(x[0], (3, 4)),
    ],
)
def test_views_of_arrays_cross(to: str, view: object) -> None:
    mine, theirs = lnp.array(DATA), DATA.copy()
    metrics.reset()
    for take in ways(to).values():
        y = take(view(mine))  # type: ignore[operator]
        assert metrics.counts["cuts"] == 0
        numpy.testing.assert_array_equal(FRAMEWORKS[to].values(y), view(theirs))  # type: ignore[operator]
        metrics.reset()


def test_read_only_arrays_and_scalars_are_taken_as_they_are_now() -> None:
    x = lnp.array(DATA)
    x.flags.writeable = False
    y = torch.from_dlpack(x)
    y.add_(1)
    numpy.testing.assert_array_equal(numpy.asarray(x), DATA)
    total = torch.as_tensor(lnp.array(DATA).sum())
    assert (total.shape, total.dtype) == ((), torch.float64)
    total.add_(1)
    assert total.item() == DATA.sum() + 1


def test_tensors_that_require_a_gradient_have_to_be_detached() -> None:
    x = torch.tensor(DATA, device="lazytensor", requires_grad=True)
    for take in (*ways("numpy").values(), *ways("tf").values()):
        with pytest.raises(RuntimeError, match="detach"):
            take(x * 2)
        assert FRAMEWORKS["numpy"].values(take((x * 2).detach())).shape == DATA.shape


def test_gradients_stop_where_an_array_leaves_its_framework() -> None:
    with tf.GradientTape() as tape:
        x = tf.constant(DATA)
        tape.watch(x)
        inside = torch.from_dlpack(x * 2)
        outside = tf.convert_to_tensor(inside) * x
        loss = tf.reduce_sum(outside)
    numpy.testing.assert_array_equal(numpy.asarray(tape.gradient(loss, x)), 2 * DATA)
    assert not inside.requires_grad


def test_a_variable_gives_its_value() -> None:
    v = tf.Variable(DATA)
    metrics.reset()
    x, y = lnp.asarray(v), torch.from_dlpack(v.value())
    v.assign_add(tf.ones_like(v))
    assert metrics.counts["cuts"] == 0
    numpy.testing.assert_array_equal(numpy.asarray(x), DATA)
    numpy.testing.assert_array_equal(y.cpu().numpy(), DATA)
    numpy.testing.assert_array_equal(v.numpy(), DATA + 1)


def test_small_arrays_are_numpys_own_and_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", 16_384)
    x = lnp.ones(3)
    assert type(x) is numpy.ndarray
    y = lazytensor.torch.from_lazy(x)
    assert torch.from_dlpack(x).device.type == "cpu"
    x[0] = 5
    assert y.tolist() == [1, 1, 1]


def test_memory_that_is_lent_is_shared_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", 16_384)
    x = lnp.arange(20_000.0)
    y, z = torch.from_dlpack(x), tf.convert_to_tensor(x)
    for _ in range(20):
        x[0] = float(x[0]) + 1
    y.mul_(2)
    assert (float(x[0]), y[0].item(), float(z[0])) == (40.0, 40.0, 0.0)


INTO_TENSORFLOW = {
    "convert_to_tensor": tf.convert_to_tensor,
    "constant": tf.constant,
    "an operand": lambda x: tf.add(x, 0.0),
    "in a graph": lambda x: tf.function(lambda: tf.convert_to_tensor(x) + 0.0)(),
}


@pytest.mark.parametrize("way", INTO_TENSORFLOW)
def test_a_tensor_of_torch_where_tensorflow_computes(way: str) -> None:
    x, found = torch.ones(3, device="lazytensor") * 2, []
    thread = threading.Thread(target=lambda: found.append(INTO_TENSORFLOW[way](x)))
    thread.start()
    thread.join()
    assert found[0].numpy().tolist() == [2, 2, 2]
    assert INTO_TENSORFLOW[way](x).numpy().tolist() == [2, 2, 2]


def test_a_thread_in_which_tensorflow_computes_gets_values() -> None:
    x = lnp.array(DATA) * 2
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(lazytensor.tf.from_lazy(x)))
    thread.start()
    thread.join()
    numpy.testing.assert_array_equal(found[0], 2 * DATA)


def test_crossing_leaves_no_trace_in_the_program() -> None:
    x = lnp.array(DATA)

    def alone() -> object:
        return lnp.sqrt(lnp.exp(x) + 1.0) * 2.0

    def together() -> object:
        inner = torch.from_dlpack(lnp.exp(x)) + 1.0
        return lnp.asarray(tf.sqrt(tf.convert_to_tensor(inner))) * 2.0

    assert lazytensor.trace(together) == lazytensor.trace(alone)


def test_torch_tensors_are_traced_as_arrays_are() -> None:
    x, y = lnp.array(DATA), torch.tensor(DATA, device="lazytensor", requires_grad=True)
    lazytensor.sync(x, y)
    traced = lazytensor.trace(lambda y: torch.exp(y) * y, y)
    assert traced == lazytensor.trace(lambda x: lnp.exp(x) * x, x)
