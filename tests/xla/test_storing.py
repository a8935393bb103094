"""What several loops need is computed once."""

from collections.abc import Callable

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.xla.optimised import optimised, program_text

pytestmark = pytest.mark.usefixtures("compiled")

ROWS, WIDTH = 256, 128


def arrays(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.standard_normal((ROWS, WIDTH)) for _ in range(count)]


def residual(layers: int, rows: int = 256, width: int = 128) -> list[Node]:
    """The backward of `layers` layers; each normalises, multiplies and adds to the stream."""
    random = np.random.default_rng(0)

    def array(*shape: int) -> Node:
        return leaf(random.standard_normal(shape).astype(np.float32))

    stream, outputs = array(rows, width), []
    for _ in range(layers):
        x, scale, before = array(rows, width), array(width), array(rows, width)
        weight = array(width, width)
        _, mean, spread = ops.layer_norm(x, scalar(1e-5, F32), scale, axes=1)
        inner, *sums = ops.layer_norm_backward(stream, x, mean, spread, scale, axes=1)
        made = ops.linear_backward(inner, before, weight, wanted=(True, True, True))
        stream = ops.add(inner, made[0])
        outputs += [*sums, *made[1:]]
    return [stream, *outputs]


def compiled_lines(outputs: list[Node]) -> int:
    """Instructions of the optimised program, those within loops counted wherever they are."""
    return optimised(outputs).count(" = ")


@pytest.mark.parametrize(("rows", "width", "layers"), [(256, 128, 3), (8, 16, 8)])
def test_a_network_twice_as_deep_is_twice_as_long(rows: int, width: int, layers: int) -> None:
    short, long = (compiled_lines(residual(n, rows, width)) for n in (layers, 2 * layers))
    assert long < 2.3 * short


def joined() -> list[Node]:
    """A value of which two functions are needed in one loop."""
    x, y = map(leaf, arrays(2))
    both = ops.log(ops.square(ops.multiply(ops.add(x, y), ops.subtract(x, y))))
    return [ops.add(ops.sin(both), ops.multiply(ops.cos(both), both))]


def cheap() -> list[Node]:
    """What takes less time to compute than to store and read."""
    x = leaf(arrays(1)[0])
    twice = ops.add(x, x)
    return [ops.reduce_sum(twice, axes=(0,)), ops.reduce_max(twice, axes=(1,))]


def small() -> list[Node]:
    """Too few elements for a loop of their own."""
    x, y = (leaf(a[:8]) for a in arrays(2))
    both = ops.exp(ops.multiply(x, y))
    return [ops.reduce_sum(both, axes=(0,)), ops.reduce_max(both, axes=(1,))]


@pytest.mark.parametrize("made", [joined, cheap, small])
def test_what_one_loop_computes_or_is_cheap_stays_there(made: Callable[[], list[Node]]) -> None:
    assert "func.func private" not in program_text(made())


def test_what_two_loops_need_is_a_function_of_its_own() -> None:
    x, y = map(leaf, arrays(2))
    both = ops.exp(ops.multiply(ops.add(x, y), ops.subtract(x, y)))
    outputs = [ops.reduce_sum(both, axes=(0,)), ops.reduce_max(both, axes=(1,))]
    assert program_text(outputs).count("func.func private") == 1


def steps(number: int) -> list[Node]:
    """A loop's elementwise steps, each of which needs the one before twice."""
    x = leaf(arrays(1)[0].astype(np.float64))
    for _ in range(number):
        x = ops.add(x, ops.sin(x))
    return [x]


@pytest.mark.parametrize(("number", "between"), [(20, 0), (60, 1), (120, 3)])
def test_a_loop_does_not_become_too_long(number: int, between: int) -> None:
    assert program_text(steps(number)).count("@between_") == 2 * between  # a function and its call


def test_values_are_those_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for tier in ("compile", "interpret"):
        monkeypatch.setattr(settings, "tier", tier)
        outputs = residual(3)
        sync(*outputs)
        found[tier] = [fetch(node) for node in outputs]
    # Sums of 256 f32 in another order, and what is computed of them, layer by layer.
    for made, expected in zip(found["compile"], found["interpret"], strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
