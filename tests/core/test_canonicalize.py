"""Normal forms: they compute the same; what is the same has one; twins are compiled once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.interpreter.interpreter import interpret
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Cut, cut
from lazytensor.core.observe import metrics
from lazytensor.core.passes.canonicalize import normal
from lazytensor.core.passes.scalar_expression import follow
from lazytensor.core.runtime.scheduler import fetch, sync
from tests.ops.sample import Sample, all_samples

Way = Callable[[Node, Node], Node]
A = np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4)
B = np.linspace(0.5, 3, 12, dtype=np.float32).reshape(3, 4)


def number(value: float) -> Node:
    return ops.scalar(value, F32)


def turned(x: Node) -> Node:
    return ops.transpose(x, axes=(1, 0))


def product(x: Node, y: Node, left: int, right: int) -> Node:
    found: Node = ops.dot_general(x, y, contract=((left,), (right,)))
    return found


def softmax(x: Node, _: Node) -> Node:
    top = ops.reshape(ops.reduce_max(x, axes=(1,)), shape=(3, 1))
    shifted = ops.exp(ops.subtract(x, top))
    total: Node = ops.reshape(ops.reduce_sum(shifted, axes=(1,)), shape=(3, 1))
    found: Node = ops.divide(shifted, total)
    return found


def everywhere(value: float) -> Node:
    found: Node = ops.broadcast(ops.reshape(number(value), shape=(1, 1)), shape=(3, 4))
    return found


def matrices(x: Node) -> Node:
    found: Node = ops.exp(ops.reshape(x, shape=(1, 3, 2, 2)))
    return found


SAME: dict[str, tuple[Way, Way]] = {
    "the order of operands": (lambda x, y: ops.add(x, y), lambda x, y: ops.add(y, x)),
    "a comparison turned round": (lambda x, y: ops.greater(x, y), lambda x, y: ops.less(y, x)),
    "a composite and its body": (lambda x, _: ops.softmax(x, axis=1), softmax),
    "an operand broadcast": (
        lambda x, y: ops.add(x, ops.reduce_sum(y, axes=(0,))),
        lambda x, y: ops.add(
            x, ops.broadcast(ops.reshape(ops.reduce_sum(y, axes=(0,)), shape=(1, 4)), shape=(3, 4))
        ),
    ),
    "a number everywhere": (
        lambda x, _: ops.multiply(x, number(0.5)),
        lambda x, _: ops.multiply(everywhere(0.5), x),
    ),
    "numbers computed before": (
        lambda x, _: ops.multiply(x, number(0.25)),
        lambda x, _: ops.multiply(x, ops.divide(everywhere(1.0), number(4.0))),
    ),
    "a step subtracted": (
        lambda x, y: ops.subtract(x, ops.multiply(y, number(0.1))),
        lambda x, y: ops.add(x, ops.multiply(number(-0.1), y)),
    ),
    "a transposed operand": (
        lambda x, y: product(x, y, 1, 1),
        lambda x, y: product(x, turned(y), 1, 0),
    ),
    "a transposed product": (
        lambda x, y: product(x, y, 0, 0),
        lambda x, y: turned(product(y, x, 0, 0)),
    ),
    "matrices in two axes": (
        lambda x, y: ops.dot_general(
            *map(matrices, (x, y)), batch=((0, 1), (0, 1)), contract=((3,), (2,))
        ),
        lambda x, y: ops.reshape(
            ops.dot_general(
                *(ops.reshape(matrices(t), shape=(3, 2, 2)) for t in (x, y)),
                batch=((0,), (0,)), contract=((2,), (1,)),
            ),
            shape=(1, 3, 2, 2),
        ),
    ),
    "rows in two axes": (
        lambda x, y: product(ops.reshape(x, shape=(3, 1, 4)), y, 2, 1),
        lambda x, y: ops.reshape(product(x, y, 1, 1), shape=(3, 1, 3)),
    ),
    "a line of numbers": (
        lambda x, _: ops.add(x, ops.iota(dtype=F32, shape=(3, 4), axis=0)),
        lambda x, _: ops.add(x, ops.reshape(ops.iota(dtype=F32, shape=(3,), axis=0), shape=(3, 1))),
    ),
    "what is computed twice": (
        lambda x, _: ops.multiply(y := ops.exp(x), y),
        lambda x, _: ops.square(ops.exp(x)),
    ),
}  # fmt: skip
OTHER: dict[str, tuple[Way, Way]] = {
    "the order of a difference": (
        lambda x, y: ops.subtract(x, y),
        lambda x, y: ops.subtract(ops.exp(y), x),
    ),
    "which operand": (
        lambda x, y: ops.add(x, ops.multiply(x, y)),
        lambda x, y: ops.add(y, ops.multiply(y, y)),
    ),
    "an attribute": (
        lambda x, _: ops.reduce_sum(x, axes=(0,)),
        lambda x, _: ops.reduce_sum(turned(x), axes=(0,)),
    ),
}


def cut_of(*outputs: Node) -> Cut:
    return cut(reachable(outputs), outputs)


def results(found: Cut) -> list[Any]:
    return interpret(found.program, [leaf.value for leaf in found.leaves], found.slots)


def results_of_normal_form(found: Cut) -> list[Any]:
    """What the normal form gives for the same leaves and slots, in the program's own order."""
    form = normal(found.program)
    leaves = [found.leaves[i].value for i in form.leaves]
    values = interpret(form.program, leaves, [follow(slot, found.slots) for slot in form.slots])
    order = [*form.outputs, *range(len(form.outputs), len(values))]
    return [values[order.index(i)] for i in range(len(values))]


def few(samples: tuple[Sample, ...]) -> list[Sample]:
    """Two samples of each op."""
    counts: dict[Any, int] = {}
    chosen = []
    for sample in samples:
        counts[sample.op] = counts.get(sample.op, 0) + 1
        chosen += [sample] if counts[sample.op] <= 2 else []
    return chosen


def plain(x: np.ndarray) -> np.ndarray:
    """An array of NumPy's own dtypes: to compare NaN it has to know the dtype."""
    return x if x.dtype.isbuiltin == 1 else x.astype(np.float32)


def test_normal_forms_compute_the_same() -> None:
    for sample in few(tuple(all_samples())):
        found = cut_of(*sample.record())
        assert normal(normal(found.program).program).program == normal(found.program).program
        for x, y in zip(results(found), results_of_normal_form(found), strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape), sample
            x, y = plain(x), plain(y)
            if x.dtype.kind in "fc" and sample.tolerance is not None:
                np.testing.assert_allclose(x, y, rtol=1e-3 if x.dtype.itemsize < 8 else 1e-9)
            else:
                np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_in_another_form(one: Way, other: Way) -> None:
    x, y = ops.leaf(A), ops.leaf(B)
    first, second = cut_of(one(x, y)), cut_of(other(x, y))
    assert normal(first.program).program == normal(second.program).program
    for found in (first, second):
        np.testing.assert_allclose(results(found)[0], results(first)[0], rtol=1e-6)
        np.testing.assert_allclose(results_of_normal_form(found)[0], results(first)[0], rtol=1e-6)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_another_computation(one: Way, other: Way) -> None:
    x, y = ops.leaf(A), ops.leaf(B)
    first, second = (normal(cut_of(way(x, y)).program).program for way in (one, other))
    assert first != second


def run(way: Way, *arrays: np.ndarray) -> np.ndarray:
    cell = Cell(way(*map(ops.leaf, arrays)))
    sync()
    return fetch(cell.node)


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_twins_are_compiled_once(one: Way, other: Way) -> None:
    for way, compiles in ((one, 1), (other, 1), (other, 1)):
        for arrays in ((A, B), (B, A)):
            found = cut_of(way(*map(ops.leaf, arrays)))
            np.testing.assert_allclose(run(way, *arrays), results(found)[0], rtol=1e-5)
        assert metrics.snapshot()["compiles"] == compiles


def test_a_twin_is_given_other_numbers() -> None:
    def one(rate: float) -> Way:
        return lambda x, y: ops.subtract(x, ops.multiply(y, number(rate)))

    def other(rate: float) -> Way:
        return lambda x, y: ops.add(ops.multiply(number(-rate), y), x)

    run(one(0.5), A, B)
    for rate in (0.5, 0.25, 2.0):
        np.testing.assert_array_equal(run(other(rate), A, B), A - np.float32(rate) * B)
    assert metrics.snapshot()["compiles"] == 2  # the number was taken for a constant


def test_a_number_within_a_twins_composite_must_be_the_same() -> None:
    def inside(x: Node, _: Node) -> Node:
        found: Node = ops.mean(x, axes=(0, 1))
        return found

    def outside(count: float) -> Way:
        return lambda x, _: ops.divide(ops.reduce_sum(x, axes=(0, 1)), number(count))

    run(inside, A, B)
    np.testing.assert_allclose(run(outside(12.0), A, B), A.mean(), rtol=1e-6)
    assert metrics.snapshot()["compiles"] == 1
    np.testing.assert_allclose(run(outside(6.0), A, B), 2 * A.mean(), rtol=1e-6)
    assert metrics.snapshot()["compiles"] == 2


def test_a_twins_leaves_and_outputs_may_be_in_another_order() -> None:
    def several(swapped: bool) -> list[np.ndarray]:
        x, y = ops.leaf(A), ops.leaf(B)
        makers = [lambda: Cell(ops.exp(x)), lambda: Cell(ops.subtract(y, ops.sin(x)))]
        made = [make() for make in (reversed(makers) if swapped else makers)]
        sync()
        return [fetch(cell.node) for cell in (reversed(made) if swapped else made)]

    for x, y in zip(several(swapped=False), several(swapped=True), strict=True):
        np.testing.assert_array_equal(x, y)
    assert metrics.snapshot()["compiles"] == 1


def test_programs_are_normal_in_the_same_way_in_every_order_of_recording() -> None:
    x, y = ops.leaf(A.astype(F64)), ops.leaf(B.astype(F64))
    texts = []
    for order in ((0, 1), (1, 0)):
        parts: dict[int, Node] = {}
        for i in order:
            parts[i] = ops.exp(x) if i else ops.sin(y)
        texts.append(str(normal(cut_of(ops.divide(parts[0], parts[1])).program).program))
    assert texts[0] == texts[1]
