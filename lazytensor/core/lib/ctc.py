"""Connectionist temporal classification: the loss, and its gradient.

By the forward and backward variables of Graves et al. (2006), doi 10.1145/1143844.1143891, in
logarithms. A label is spelled with a blank before, between and after its symbols. Each variable is
one loop over all times. Lengths are data: they select the time at which a sequence ends.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node
from lazytensor.core.ir.dtypes import F64, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, filled, like, whole
from lazytensor.core.ops.movement import part
from lazytensor.core.ops.scanning import Nodes, scan

IMPOSSIBLE: Final = -np.inf
"""The logarithm of probability zero."""


class _Spelling(NamedTuple):
    """Labels with their blanks. `jumps`: whether a symbol may follow the one two places before.

    symbols: s64[n,l].
    """

    symbols: Node
    jumps: Node


def _chosen(flag: Node, x: Node, y: Node) -> Node:
    return ops.select(flag, x, y)


def _moved(x: Node, places: int, filling: Any) -> Node:
    """`x` shifted by `places` along its last axis (backwards if negative), filled by `filling`."""
    none = (0,) * (x.type.ndim - 1)
    low, high = (max(places, 0), max(-places, 0))
    wide = ops.pad(
        x, cast_to(filling, x.type.dtype), low=(*none, low), high=(*none, high),
        interior=(0,) * x.type.ndim,
    )  # fmt: skip
    return part(wide, x.type.ndim - 1, high, x.type.shape[-1])


def _spelling(labels: Node, blank: int, classes: int) -> _Spelling:
    count, length = labels.type.shape
    inside = ops.clamp(whole(0), labels, whole(classes - 1))  # padding may hold any value
    pairs = ops.pad(
        ops.reshape(inside, shape=(count, length, 1)), whole(blank), low=(0, 0, 1),
        high=(0, 0, 0), interior=(0, 0, 0),
    )  # fmt: skip
    symbols = ops.pad(
        ops.reshape(pairs, shape=(count, 2 * length)), whole(blank), low=(0, 0), high=(0, 1),
        interior=(0, 0),
    )  # fmt: skip
    places = ops.iota(dtype=S64, shape=symbols.type.shape, axis=1)
    odd = ops.equal(ops.remainder(places, whole(2)), whole(1))
    return _Spelling(symbols, odd & ops.not_equal(symbols, _moved(symbols, 2, -1)))


def _log_sum(*terms: Node) -> Node:
    most = terms[0]
    for x in terms[1:]:
        most = ops.maximum(most, x)
    most = _chosen(ops.equal(most, like(IMPOSSIBLE, most)), like(0, most), most)
    total, *rest = [ops.exp(x - most) for x in terms]
    for x in rest:
        total = total + x
    return ops.log(total) + most


def _forward_step(before: Node, emitted: Node, jumps: Node) -> Node:
    two = _chosen(jumps, _moved(before, 2, IMPOSSIBLE), like(IMPOSSIBLE, before))
    return _log_sum(before, _moved(before, 1, IMPOSSIBLE), two) + emitted


def _backward_step(after: Node, emitted: Node, jumps: Node) -> Node:
    two = _chosen(_moved(jumps, -2, False), _moved(after, -2, IMPOSSIBLE), like(IMPOSSIBLE, after))
    return _log_sum(after, _moved(after, -1, IMPOSSIBLE), two) + emitted


def _emitted(log_probs: Node, symbols: Node) -> Node:
    """For each time the logarithms of the symbols' probabilities: [t,n,l]."""
    at = ops.reshape(symbols, shape=(1, *symbols.type.shape))
    return ops.take_along(log_probs, at, axis=2)


def _column(x: Node) -> Node:
    return ops.reshape(x, shape=(x.type.size, 1))


def _places_where(symbols: Node, place: Node) -> Node:
    """The logarithm of an indicator, f64: zero at one place of each row, impossible elsewhere."""
    places = ops.iota(dtype=S64, shape=symbols.type.shape, axis=1)
    return _chosen(ops.equal(places, place), cast_to(0.0, F64), cast_to(IMPOSSIBLE, F64))


@one_node
def ctc_loss(
    log_probs: Node, labels: Node, steps: Node, lengths: Node, *, blank: int
) -> tuple[Node, Node]:
    """The negative logarithms of the labels' probabilities, and the forward variables [n,t,l]."""
    dtype = log_probs.type.dtype
    symbols, jumps = _spelling(labels, blank, log_probs.type.shape[2])
    emitted = _emitted(log_probs, symbols)
    start = cast_to(_places_where(symbols, whole(0)), dtype)
    last = _column(steps) - 1

    def body(time: Node, given: Nodes, state: Nodes, shared: Nodes) -> tuple[Nodes, Nodes]:
        (now, end), (jumps, last) = state, shared
        now = _forward_step(now, given[0], jumps)
        return (now, _chosen(ops.equal(last, time), now, end)), (now,)

    (_, end), (table,) = scan("ctc forward", body, [emitted], [start, start], [jumps, last])
    at = _column(lengths) * 2
    blank_last = ops.take_along(end, at, axis=1)
    before = ops.take_along(end, ops.maximum(at - 1, whole(0)), axis=1)
    some = at > 0
    found = _log_sum(blank_last, _chosen(some, before, like(IMPOSSIBLE, before)))
    loss = ops.reshape(-found, shape=(symbols.type.shape[0],))
    return loss, ops.transpose(table, axes=(1, 0, 2))


def _log_beta(emitted: Node, spelling: _Spelling, steps: Node, lengths: Node) -> Node:
    """The backward variables: [t,n,l]."""
    symbols, jumps = spelling
    dtype = emitted.type.dtype
    end = cast_to(_places_where(symbols, _column(lengths) * 2), dtype)
    last = _column(steps) - 1

    def body(time: Node, given: Nodes, state: Nodes, shared: Nodes) -> tuple[Nodes, Nodes]:
        end, jumps, last = shared
        now = _backward_step(_chosen(ops.equal(last, time), end, state[0]), given[0], jumps)
        return (now,), (now,)

    never = filled(symbols.type.shape, IMPOSSIBLE, dtype)
    shared = end, jumps, last
    return scan("ctc backward", body, [emitted], [never], shared, backwards=True).tables[0]


def _by_class(share: Node, symbols: Node, classes: int) -> Node:
    """The sums over the symbols, [t,n,l], for each class: [t,n,c]."""
    shape = share.type.shape
    where = [ops.iota(dtype=S64, shape=shape, axis=axis) for axis in (0, 1)]
    where.append(ops.broadcast(ops.reshape(symbols, shape=(1, *shape[1:])), shape=shape))
    zeros = filled((*shape[:2], classes), 0, share.type.dtype)
    return ops.scatter(zeros, share, *where, axes=(0, 1, 2), mode="add")


@one_node
def ctc_loss_backward(
    grad: Node, log_probs: Node, labels: Node, steps: Node, lengths: Node, loss: Node,
    log_alpha: Node, *, blank: int, zero_infinity: bool,
) -> Node:  # fmt: skip
    """The gradient for the logits of `log_probs`, times `grad`: [t,n,c]."""
    times, count, classes = log_probs.type.shape
    each = (1, count, 1)
    spelling = _spelling(labels, blank, classes)
    emitted = _emitted(log_probs, spelling.symbols)
    log_beta = _log_beta(emitted, spelling, steps, lengths)
    # Both variables include the symbol emitted at their own time, which counts once.
    both = ops.transpose(log_alpha, axes=(1, 0, 2)) + log_beta - emitted
    share = ops.exp(both + ops.reshape(loss, shape=each))
    places = ops.iota(dtype=S64, shape=(1, count, emitted.type.shape[2]), axis=2)
    last = ops.reshape(lengths * 2, shape=each)
    share = _chosen(places <= last, share, like(0, share))
    made = ops.exp(log_probs) - _by_class(share, spelling.symbols, classes)
    made = made * ops.reshape(grad, shape=each)
    endless = ops.reshape(ops.equal(loss, like(np.inf, loss)), shape=each)
    made = _chosen(endless, like(0 if zero_infinity else np.nan, made), made)
    time = ops.iota(dtype=S64, shape=(times, 1, 1), axis=0)
    return _chosen(time < ops.reshape(steps, shape=each), made, like(0, made))
