"""Python's operators on nodes: each records the one op that it stands for, as a call of it does."""

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F32, S64
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import OPERATORS, Node
from lazytensor.core.ir.op import SLOT, Op
from lazytensor.core.ir.program import Cut, cut
from lazytensor.core.ir.source_location import line_of

BINARY: dict[Callable[[Any, Any], Any], Op] = {
    operator.add: ops.add,
    operator.sub: ops.subtract,
    operator.mul: ops.multiply,
    operator.truediv: ops.divide,
    operator.floordiv: ops.floor_divide,
    operator.mod: ops.modulo,
    operator.pow: ops.power,
    operator.and_: ops.and_,
    operator.or_: ops.or_,
    operator.xor: ops.xor,
    operator.lshift: ops.shift_left,
    operator.rshift: ops.shift_right,
    operator.lt: ops.less,
    operator.le: ops.less_equal,
    operator.gt: ops.greater,
    operator.ge: ops.greater_equal,
}
UNARY: dict[Callable[[Any], Any], Op] = {operator.neg: ops.negate, operator.invert: ops.not_}
NUMBER_FIRST = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
FOREIGN = ("text", None, [1], np.arange(3), F32, ops.leaf(np.arange(3)).type)

name = pytest.mark.parametrize("sign", BINARY, ids=lambda sign: sign.__name__)


def integers() -> Node:
    return ops.leaf(np.arange(1, 7).reshape(2, 3))


def kinds() -> dict[str, Node]:
    """A node of each class that can be an operand."""
    values, indices = ops.top_k(integers(), k=3)
    return {"leaf": integers(), "pending": ops.abs(integers()), "part": indices, "first": values}


def found(*outputs: Node) -> Cut:
    return cut(reachable(outputs), outputs)


def same(made: Node, called: Node) -> bool:
    """Whether two nodes are one op of the same operands, numbers compared by value and dtype."""
    pairs = zip(made.operands, called.operands, strict=True)
    return (made.op, made.attrs, made.type) == (called.op, called.attrs, called.type) and all(
        x is y or (x.op is y.op is SLOT and (x.value, x.type) == (y.value, y.type))
        for x, y in pairs
    )


@name
def test_two_nodes(sign: Callable[[Any, Any], Any]) -> None:
    """Operands keep their order, whatever their classes are."""
    for x, y in product(kinds().values(), kinds().values()):
        assert same(sign(x, y), BINARY[sign](x, y))


@name
def test_number_on_the_right(sign: Callable[[Any, Any], Any]) -> None:
    for x in kinds().values():
        assert same(sign(x, 2), BINARY[sign](x, ops.scalar(2, S64)))


@pytest.mark.parametrize("sign", NUMBER_FIRST, ids=lambda sign: sign.__name__)
def test_number_on_the_left(sign: Callable[[Any, Any], Any]) -> None:
    for x in kinds().values():
        assert same(sign(2, x), BINARY[sign](ops.scalar(2, S64), x))


@pytest.mark.parametrize(
    "value", [True, 2, 0.5, 1 + 2j, np.float64(0.5), np.int8(3), np.True_], ids=repr
)
def test_numbers(value: Any) -> None:
    """A number is the slot that `scalar` makes of it: its value is no part of the program."""
    x = ops.leaf(np.ones(2, complex))
    made, called = x * value, ops.multiply(x, ops.scalar(value, x.type.dtype))
    assert same(made, called)
    assert found(made).program == found(called).program == found(x * 7).program
    assert found(made).slots == [value]


@pytest.mark.parametrize("sign", UNARY, ids=lambda sign: sign.__name__)
def test_one_node(sign: Callable[[Any], Any]) -> None:
    for x in kinds().values():
        assert same(sign(x), UNARY[sign](x))


def test_every_operator_is_here() -> None:
    """A table that leaves an operator out would prove nothing for it."""
    assert {*OPERATORS.values()} == {*BINARY.values(), *UNARY.values(), SLOT}


def test_a_formula_is_the_program_of_its_calls() -> None:
    x, y = ops.leaf(np.ones((2, 3))), ops.leaf(np.ones(3))
    flag = (x < y) & ~(x >= 0.5)
    made = ops.select(flag, 1 - x / y, -((x + 2.0 * y) ** 2))
    half, two = ops.scalar(0.5, x.type.dtype), ops.scalar(2.0, x.type.dtype)
    flag = ops.and_(ops.less(x, y), ops.not_(ops.greater_equal(x, half)))
    ratio = ops.subtract(ops.scalar(1, x.type.dtype), ops.divide(x, y))
    total = ops.add(x, ops.multiply(two, y))
    called = ops.select(flag, ratio, ops.negate(ops.power(total, ops.scalar(2, x.type.dtype))))
    assert str(found(made).program) == str(found(called).program)
    assert found(made).slots == found(called).slots == [0.5, 1, 2.0, 2]


def test_work_and_place_are_those_of_a_call() -> None:
    x = integers()
    made, called = x + x, ops.add(x, x)  # on one line
    assert made.place is not None
    assert called.place is not None
    assert made.place[0] is called.place[0]
    assert line_of(made.place) == line_of(called.place)


def test_equality_is_identity() -> None:
    """Nodes are keys of tables: `==` compares the objects, `ops.equal` the values."""
    x, y = integers(), integers()
    assert x == x
    assert x != y
    assert len({x, y}) == 2
    assert ops.equal(x, y).type.dtype == BOOL


@name
@pytest.mark.parametrize("other", FOREIGN, ids=lambda other: type(other).__name__)
def test_foreign_operands(sign: Callable[[Any, Any], Any], other: Any) -> None:
    """The error names the op and what was given."""
    given = type(other).__name__
    with pytest.raises(TypeError, match=f"{BINARY[sign].name}: a node or .* got {given}"):
        sign(integers(), other)


@pytest.mark.parametrize("sign", NUMBER_FIRST, ids=lambda sign: sign.__name__)
@pytest.mark.parametrize("other", FOREIGN, ids=lambda other: type(other).__name__)
def test_foreign_operands_on_the_left(sign: Callable[[Any, Any], Any], other: Any) -> None:
    """NumPy's arrays neither: they would take a node for an object."""
    with pytest.raises(TypeError):
        sign(other, integers())
