"""A machine that runs random programs over the core: tables of small actions on a pool of arrays.

A program is a list of actions, each a name and a few numbers, taken modulo whatever there is to
choose from: every list of them is a program, so that failing ones shrink to short ones. Values are
small whole numbers, so that results do not depend on the order of additions.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.recording import thread
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.scheduler import fetch, observe, sync
from lazytensor.core.settings import settings
from lazytensor.core.trace import automatic_cut

Holder = Cell | View
F64, S64 = np.dtype(np.float64), np.dtype(np.int64)
SHAPES = [(4,), (3, 4), (2048,), (), (1, 4), (3, 1), (2, 3, 4), (0,), (6,), (4, 3)]
NUMBERS = [0.0, 1.0, 2.0, -3.0, 5.0, -0.0]
TIERS = ["interpret", "compile", "auto"]
BOUND = 1000.0


class Action(NamedTuple):
    """One line of a program: what to do, and numbers to choose operands and attributes by."""

    name: str
    a: int
    b: int
    c: int


class Machine:
    """Runs actions. `barriers` says whether those that may not change a result are taken."""

    def __init__(self, *, barriers: bool) -> None:
        self.barriers = barriers
        self.pool: list[Holder] = [
            Cell(leaf(np.array(np.arange(math.prod(shape), dtype=F64).reshape(shape) % 7 - 2)))
            for shape in SHAPES[:3]
        ]
        self.nodes: list[Node] = []

    def run(self, program: Sequence[Action], times: int = 1) -> list[np.ndarray]:
        """The values of all arrays and nodes left after the program has run `times` times."""
        for action in [*program] * times:
            ACTIONS[action.name](self, action)
        nodes = [*(holder.node for holder in self.pool), *self.nodes]
        return [fetch(node) for node in nodes]

    def pick(self, number: int) -> Holder:
        """One of the arrays; the newest are 0, 1, …"""
        return self.pool[-1 - number % len(self.pool)]

    def add(self, node: Node) -> None:
        """A new array."""
        self.pool.append(Cell(clamped(node)))


def clamped(x: Node) -> Node:
    """`x`, small enough for all sums of it to be exact."""
    low, high = (ops.scalar(bound, x.type.dtype) for bound in (-BOUND, BOUND))
    node: Node = ops.clamp(low, x, high)
    return node


def fitting(x: Node, shape: tuple[int, ...]) -> Node:
    """`x` broadcast to `shape`; its sum, where that does not work."""
    try:
        works = np.broadcast_shapes(x.type.shape, shape) == shape
    except ValueError:
        works = False
    if not works:
        x = ops.reduce_sum(x, axes=tuple(range(x.type.ndim)))
    node: Node = ops.broadcast(x, shape=shape)
    return node


UNARY = [
    ops.negate,
    ops.abs,
    ops.sign,
    ops.square,
    lambda x: ops.convert(ops.convert(x, dtype=S64), dtype=F64),
    lambda x: ops.add(x, ops.square(x)),
    lambda x: ops.cumsum(x, axis=x.type.ndim - 1) if x.type.ndim else x,
    lambda x: ops.reverse(x, axes=tuple(range(x.type.ndim))),
]
BINARY = [ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum]
REDUCE = [ops.reduce_sum, ops.reduce_max, ops.reduce_min]


def _create(m: Machine, action: Action) -> None:
    shape = SHAPES[action.a % len(SHAPES)]
    number = ops.scalar(NUMBERS[action.b % len(NUMBERS)], F64)
    m.pool.append(Cell(ops.broadcast(number, shape=shape)))


def _unary(m: Machine, action: Action) -> None:
    m.add(UNARY[action.b % len(UNARY)](m.pick(action.a).node))


def _binary(m: Machine, action: Action) -> None:
    x = m.pick(action.a).node
    m.add(BINARY[action.c % len(BINARY)](x, fitting(m.pick(action.b).node, x.type.shape)))


def _scalar(m: Machine, action: Action) -> None:
    number = ops.scalar(NUMBERS[action.b % len(NUMBERS)], F64)
    m.add(BINARY[action.c % len(BINARY)](m.pick(action.a).node, number))


def _choose(m: Machine, action: Action) -> None:
    x = m.pick(action.a).node
    y = fitting(m.pick(action.b).node, x.type.shape)
    m.add(ops.select(ops.less(x, y), ops.negate(y), x))


def _reduce(m: Machine, action: Action) -> None:
    x = m.pick(action.a).node
    if x.type.ndim and x.type.size:
        m.add(REDUCE[action.c % len(REDUCE)](x, axes=(action.b % x.type.ndim,)))


def _sort(m: Machine, action: Action) -> None:
    x = m.pick(action.a).node
    if x.type.ndim:
        low, order = ops.sort(x, ops.negate(x), axis=action.b % x.type.ndim, keys=1)
        if action.c % 3:
            m.add(low)
        if action.c % 2:
            m.nodes.append(order)


def _gather(m: Machine, action: Action) -> None:
    x = m.pick(action.a).node
    if x.type.ndim and x.type.shape[0]:
        index = np.arange(action.b % 5 + 1) * action.c % x.type.shape[0]
        m.add(ops.gather(x, leaf(index.astype(S64)), axes=(0,)))


def _view(m: Machine, action: Action) -> None:
    holder = m.pick(action.a)
    shape = holder.type.shape
    ndim = len(shape)
    steps: list[Callable[[], Any]] = [lambda: ops.reshape_step((math.prod(shape),))]
    if ndim:
        steps += [
            lambda: sliced(shape, action.c),
            lambda: sliced(shape, action.c + 1),
            lambda: ops.transpose_step((*range(1, ndim), 0)),
        ]
    if ndim > 1:
        steps.append(lambda: ops.diagonal_step(action.c % 3 - 1, ndim - 2, ndim - 1))
    m.pool.append(holder.view(steps[action.b % len(steps)]()))


def sliced(shape: tuple[int, ...], number: int) -> Any:
    """A slice of each axis: a part, every second one, backwards."""
    begin, sizes, strides = [], [], []
    for n in shape:
        start, number = number % (n + 1), number // 2
        span = [range(n)[start:], range(n)[:start:-1], range(n)[::2], range(n)[:start]][number % 4]
        begin.append(span.start if span else 0)
        sizes.append(len(span))
        strides.append(span.step)
    return ops.slice_step(tuple(begin), tuple(sizes), tuple(strides))


def _write(m: Machine, action: Action) -> None:
    target, value = m.pick(action.a), m.pick(action.b).node
    target.write(fitting(value, target.type.shape))


def _fill(m: Machine, action: Action) -> None:
    target = m.pick(action.a)
    number = ops.scalar(NUMBERS[action.b % len(NUMBERS)], F64)
    target.write(ops.broadcast(number, shape=target.type.shape))


def _update(m: Machine, action: Action) -> None:
    target = m.pick(action.a)
    number = ops.scalar(NUMBERS[action.b % len(NUMBERS)], F64)
    target.write(clamped(BINARY[action.c % len(BINARY)](target.node, number)))


def _hold(m: Machine, action: Action) -> None:
    m.nodes.append(ops.negate(m.pick(action.a).node))


def _share(m: Machine, action: Action) -> None:
    m.pool.append(Cell(m.pick(action.a).node))


def _drop(m: Machine, action: Action) -> None:
    if len(m.pool) > 1:
        del m.pool[action.a % len(m.pool)]


def _barrier(m: Machine, action: Action) -> None:
    if m.barriers:
        sync()


def _observe(m: Machine, action: Action) -> None:
    if m.barriers:
        observe(m.pick(action.a).node)


def _named(m: Machine, action: Action) -> None:
    if m.barriers:
        sync(m.pick(action.a).node, *m.nodes[action.b % 3 :])


def _tier(m: Machine, action: Action) -> None:
    if m.barriers and action.b % 4 == 0:
        settings.tier = TIERS[action.a % len(TIERS)]


def _chunks(m: Machine, action: Action) -> None:
    if m.barriers:
        scheduler.PROGRAM_NODES_BOUND = [2, 5, 1500][action.a % 3]  # type: ignore[misc]


def _automatic(m: Machine, action: Action) -> None:
    if m.barriers:
        thread.recorder.bound = 0
        automatic_cut.PENDING_NODES_BOUND = action.a  # type: ignore[misc]


def _forget(m: Machine, action: Action) -> None:
    if m.barriers:
        settings.programs = action.a % 4 + 1


def _collect(m: Machine, action: Action) -> None:
    if m.barriers and action.a % 4 == 0:
        gc.collect()


ACTIONS: dict[str, Callable[[Machine, Action], None]] = {
    "create": _create,
    "unary": _unary,
    "binary": _binary,
    "scalar": _scalar,
    "choose": _choose,
    "reduce": _reduce,
    "sort": _sort,
    "gather": _gather,
    "view": _view,
    "write": _write,
    "fill": _fill,
    "update": _update,
    "hold": _hold,
    "share": _share,
    "drop": _drop,
    "barrier": _barrier,
    "observe": _observe,
    "named": _named,
    "tier": _tier,
    "chunks": _chunks,
    "automatic": _automatic,
    "forget": _forget,
    "collect": _collect,
}
NAMES = ["barrier", *ACTIONS, "view", "write", "update", "binary", "barrier", "unary"]
"""What random programs are drawn from; what changes nothing comes first: they shrink to it."""
