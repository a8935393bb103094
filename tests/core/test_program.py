"""Programs: their text, their equality, what is in their identity and what is not."""

import math
from collections.abc import Callable
from textwrap import dedent

import numpy as np
import pytest

import lazytensor
from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.device.backend import backend
from lazytensor.core.ir.dtypes import BOOL, F32, F64, S64
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program, cut
from lazytensor.core.observe import metrics
from lazytensor.core.runtime.scheduler import fetch, sync

X = np.arange(6.0).reshape(2, 3)


def program_of(*outputs: Node) -> Program:
    return cut(reachable(outputs), outputs).program


def sample(number: float = 2.0, begin: int = 1) -> Program:
    x = ops.leaf(X)
    product = ops.multiply(x, ops.scalar(number, F64))
    part = ops.slice(product, ops.starts((0, begin)), sizes=(2, 2), strides=(1, 1))
    return program_of(ops.reduce_sum(part, axes=(1,)))


def test_text() -> None:
    expected = """\
        program {
          %0: f64[2,3] = parameter()
          %1: f64[] = slot()
          %2: f64[2,3] = multiply(%0, %1)
          %3: s64[2] = slot()
          %4: f64[2,2] = slice(%2, %3, sizes=(2, 2), strides=(1, 1))
          %5: f64[2] = reduce_sum(%4, axes=(1,))
          return %5
        }"""
    assert str(sample()) == dedent(expected)


def test_text_of_several_results() -> None:
    values, indices = ops.top_k(ops.leaf(np.arange(4, dtype=np.float32)), k=2)
    expected = """\
        program {
          %0: f32[4] = parameter()
          %1: (f32[2], s64[2]) = top_k(%0, k=2)
          %2: f32[2] = element(%1, index=0)
          %3: s64[2] = element(%1, index=1)
          return %3, %2
        }"""
    assert str(program_of(indices, values)) == dedent(expected)


def test_text_of_attributes() -> None:
    x = ops.convert(ops.leaf(np.ones(2, np.float32)), dtype=np.dtype(np.int8))
    spectrum = ops.fft(ops.leaf(X), kind="RFFT", lengths=(3,))
    text = str(program_of(x, spectrum))
    assert "%1: s8[2] = convert(%0, dtype=s8)" in text
    assert "%3: c64[2,2]" not in text
    assert "%3: c128[2,2] = fft(%2, kind='RFFT', lengths=(3,))" in text


def test_recording_again_gives_the_same_program() -> None:
    assert sample() == sample()
    assert hash(sample()) == hash(sample())


@pytest.mark.parametrize("number", [3.0, 0.0, -0.0, math.nan, math.inf, 1, True])
def test_a_scalar_is_outside_the_identity(number: float) -> None:
    assert sample(number) == sample(2.0)


def test_a_slice_start_is_outside_the_identity() -> None:
    assert sample(begin=0) == sample(begin=1)


def test_equal_scalars_are_slots_of_their_own() -> None:
    def step(rate: float, momentum: float) -> Program:
        x = ops.multiply(ops.leaf(X), ops.scalar(rate, F64))
        return program_of(ops.add(x, ops.scalar(momentum, F64)))

    assert step(0.9, 0.9) == step(0.9, 0.5)
    assert len(step(0.9, 0.9).slots) == 2


DIFFERENT: dict[str, Callable[[], Node]] = {
    "sum": lambda: ops.add(ops.leaf(X), ops.leaf(X)),
    "difference": lambda: ops.subtract(ops.leaf(X), ops.leaf(X)),
    "sum with itself": lambda: (lambda x: ops.add(x, x))(ops.leaf(X)),
    "sum of f32": lambda: ops.add(*[ops.leaf(X.astype(np.float32))] * 2),
    "sum of a row": lambda: ops.add(ops.leaf(X), ops.leaf(X[:1])),
    "sum with a number": lambda: ops.add(ops.leaf(X), ops.scalar(1.0, F64)),
    "number first": lambda: ops.add(ops.scalar(1.0, F64), ops.leaf(X)),
    "rows": lambda: ops.reduce_sum(ops.leaf(X), axes=(0,)),
    "columns": lambda: ops.reduce_sum(ops.leaf(X), axes=(1,)),
    "twice": lambda: (lambda x: ops.add(ops.add(x, x), x))(ops.leaf(X)),
    "twice, other way": lambda: (lambda x: ops.add(x, ops.add(x, x)))(ops.leaf(X)),
    "s64 scalar": lambda: ops.broadcast(ops.scalar(1, S64), shape=(2,)),
    "pred scalar": lambda: ops.broadcast(ops.scalar(True, BOOL), shape=(2,)),
    "f32 scalar": lambda: ops.broadcast(ops.scalar(1, F32), shape=(2,)),
}


def test_different_graphs_are_different_programs() -> None:
    programs = [program_of(make()) for make in DIFFERENT.values()]
    equal = [
        (one, other)
        for i, one in enumerate(DIFFERENT)
        for j, other in enumerate(DIFFERENT)
        if i < j and programs[i] == programs[j]
    ]
    assert not equal
    assert len(set(map(str, programs))) == len(programs)


def test_other_outputs_are_another_program() -> None:
    x = ops.leaf(X)
    y = ops.sin(x)
    z = ops.cos(y)
    assert program_of(z) != program_of(z, y)
    assert program_of(y, z) != program_of(z, y)


def test_programs_with_equal_hashes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Program.__init__

    def collide(self: Program, *args: object, **kwargs: object) -> None:
        original(self, *args, **kwargs)  # type: ignore[arg-type]
        self._hash = 7

    monkeypatch.setattr(Program, "__init__", collide)
    for name, make in DIFFERENT.items():
        first, second = make(), make()
        assert hash(program_of(first)) == 7
        sync(first)
        metrics.reset()
        assert np.array_equal(fetch(second), fetch(first)), name
        assert metrics.snapshot()["compiles"] == 0
    x, y = ops.leaf(X), ops.leaf(X + 1)
    assert np.array_equal(fetch(ops.add(x, y)), 2 * X + 1)
    assert np.array_equal(fetch(ops.subtract(x, y)), -np.ones_like(X))


def test_order_is_that_of_recording() -> None:
    x = ops.leaf(X)
    late = ops.sin(x)
    later = ops.cos(x)
    assert [line[0].name for line in program_of(later, late).instructions] == [
        "parameter",
        "sin",
        "cos",
    ]
    assert program_of(later, late).outputs == (2, 1)


def test_swapped_buffers_are_one_program() -> None:
    a, b = Cell(ops.leaf(X)), Cell(ops.leaf(X * 0))
    for _ in range(6):
        b.write(ops.add(ops.multiply(a.node, ops.scalar(0.5, F64)), b.node))
        a, b = b, a
        sync()
    assert metrics.snapshot()["compiles"] == 1
    expected, other = X, X * 0
    for _ in range(6):
        expected, other = expected * 0.5 + other, expected
    assert np.array_equal(fetch(a.node), expected)
    assert np.array_equal(fetch(b.node), other)


class Lazy:
    """What `trace` takes: anything with a node."""

    def __init__(self, node: Node) -> None:
        self.node = node


def test_trace_gives_the_program_of_a_function() -> None:
    def double(x: Lazy, by: float) -> Lazy:
        return Lazy(ops.multiply(x.node, ops.scalar(by, F64)))

    traced = lazytensor.trace(double, Lazy(ops.leaf(X)), by=2.0)
    assert str(traced).splitlines()[3].strip() == "%2: f64[2,3] = multiply(%0, %1)"
    assert traced == lazytensor.trace(double, Lazy(ops.sin(ops.leaf(X))), by=3.0)
    assert metrics.snapshot()["cuts"] == 1  # of the sine, an argument: it is a parameter


def test_trace_refuses_a_result_without_arrays() -> None:
    with pytest.raises(TypeError, match=r"^trace: the function must return lazy arrays, got int"):
        lazytensor.trace(lambda x: 1, Lazy(ops.leaf(X)))


def test_stablehlo_parses() -> None:
    from jaxlib.mlir import ir

    from lazytensor.backends.xla import client

    text = backend().stablehlo(sample())
    assert "stablehlo.multiply" in text
    with client.context():
        assert ir.Module.parse(text).operation.verify()
