"""A gradient of a composition is the slope of its function, by central differences in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import (
    activations,
    ctc,
    distances,
    embeddings,
    grid_sampling,
    losses,
    margins,
    normalization,
    pool_gradients,
    pooling,
    segments,
    sequences,
)
from lazytensor.core.lib.pool_gradients import PoolWindows
from lazytensor.core.settings import settings
from tests.lib.compute import call, nodes
from tests.sweeps import one_in

STEP = 1e-6
_random = np.random.default_rng(11)


def x(*shape: int) -> np.ndarray:
    """Numbers around 0, far enough from each other for a step."""
    return _random.standard_normal(shape)


class Pair(NamedTuple):
    """A function of one array, its gradient from the function's gradient, and where to look.

    `gradient(grad, x)` is a node for each node of `function(x)`.
    """

    function: Callable[[Node], Any]
    gradient: Callable[[Node, Node], Any]
    at: np.ndarray


def _leaf(array: np.ndarray) -> Node:
    return nodes(lambda node: node, (array,), {})[0]


def _rows(grad: Node) -> Node:
    return ops.new_axis(grad)


def _picked(x: Node, places: Node) -> Node:
    return ops.gather(x, places, axes=(0,))


def _lengths(v: Node) -> Node:
    return _rows(distances.vector_norm(v, 2, (1,)))


def _weights(v: Node) -> Node:
    return v * _leaf(np.full((3, 1), 2.0)) / _lengths(v)


WINDOWS = PoolWindows((3, 2), (1, 2), (2, 1), (1, 1))
COUNT = (3, 4)
DIVISORS = pooling.pool_divisors((5, 4), WINDOWS._replace(gaps=(1, 1)), (3, 5), True)
PLAIN = WINDOWS._replace(gaps=(1, 1))
PLACES, LABELS = np.array([2, 0, 1]), np.array([[1, 0, -1], [2, -1, 0], [0, 1, 2]])
ROWS, BAGS = np.array([0, 2, 2, 1]), np.array([0, 2, 3])
LENGTHS = np.array([2, 0, 3])
GRID = _random.uniform(-0.9, 0.9, (1, 3, 2, 2))
LOGITS = x(6, 2, 4)
CTC = np.array([[1, 2], [3, 0]]), np.array([6, 4]), np.array([2, 1])


def _classes(table: Node) -> losses.Classes:
    places = _leaf(PLACES)
    return losses.Classes.weighed(places, places >= 0, None, table)


def _sampled(how: int, beyond: int) -> Pair:
    """By the input of a sampled grid."""
    options = how, beyond, False
    return Pair(
        lambda a: grid_sampling.grid_sample(a, _leaf(GRID), *options),
        lambda g, a: grid_sampling.grid_sample_backward(
            g, a, _leaf(GRID), *options, (True, False))[0],
        x(1, 2, 4, 3),
    )  # fmt: skip


def _placed(how: int) -> Pair:
    """By the places of a grid."""
    options = how, 0, True
    given = LOGITS[None]
    return Pair(
        lambda a: grid_sampling.grid_sample(_leaf(given), a, *options),
        lambda g, a: grid_sampling.grid_sample_backward(
            g, _leaf(given), a, *options, (False, True))[1],
        GRID,
    )  # fmt: skip


def _bags(places: Node) -> embeddings.Bags:
    return embeddings.Bags.starting(_leaf(BAGS), places, False, -1)


def _bag_gradient(grad: Node, table: Node) -> Node:
    places = _leaf(ROWS)
    _, best = embeddings.bag_largest(table, places, _bags(places))
    return embeddings.bag_largest_gradient(grad, best, _bags(places).sizes(), 3)


def _segments(reduce: str, initial: float) -> Pair:
    options: dict[str, Any] = {"reduce": reduce, "offsets": False}

    def function(data: Node) -> Node:
        start = _leaf(np.array(initial))
        return segments.segment_reduce(data, _leaf(LENGTHS), start, given=True, **options)

    def gradient(grad: Node, data: Node) -> Node:
        rest = _leaf(LENGTHS), _leaf(np.array(initial))
        return segments.segment_reduce_backward(grad, function(data), data, *rest, **options)

    return Pair(function, gradient, x(5, 2))


def _ctc_gradient(grad: Node, logits: Node) -> Node:
    logs, given = _logs(logits), [*map(_leaf, CTC)]
    loss, table = ctc.ctc_loss(logs, *given, blank=0)
    return ctc.ctc_loss_backward(grad, logs, *given, loss, table, blank=0, zero_infinity=False)


def _logs(logits: Node) -> Node:
    return ops.log_softmax(logits, axis=2)


def _layer(kind: str, gates: int, states: int) -> Pair:
    weights = [x(gates * 3, 2), x(gates * 3, 3)]
    first = [x(4, 3) for _ in range(states)]
    options: dict[str, Any] = {"kind": kind, "biases": 0, "backwards": False}

    def forward(data: Node) -> Any:
        return sequences.recurrent_layer(data, *map(_leaf, (*weights, *first)), **options)

    def gradient(grad: Node, data: Node) -> Node:
        made = forward(data)
        nothing = [_leaf(np.zeros((4, 3))) for _ in range(states)]
        tables = made[1 + states :]
        given = grad, *nothing, data, *map(_leaf, (*weights, *first)), *tables
        return sequences.recurrent_layer_backward(*given, packed=False, **options)[0]

    return Pair(lambda data: forward(data)[0], gradient, x(5, 4, 2))


OTHER = x(4, 3)
PAIRS = {
    "huber": Pair(lambda a: losses.huber(a, 0.7), lambda g, a: g * losses.huber_slope(a, 0.7),
                  x(9)),
    "smooth_l1": Pair(lambda a: losses.smooth_l1(a, 0.6),
                      lambda g, a: g * losses.smooth_l1_slope(a, 0.6), x(9)),
    "binary_cross_entropy": Pair(
        lambda a: losses.binary_cross_entropy(a, _leaf(np.linspace(0, 1, 5))),
        lambda g, a: g * losses.binary_cross_entropy_slope(a, _leaf(np.linspace(0, 1, 5))),
        np.linspace(0.2, 0.8, 5)),
    "class_losses": Pair(
        lambda a: losses.class_losses(a, _classes(a)),
        lambda g, a: losses.class_losses_gradient(g, a, _classes(a)), x(3, 4)),
    "cross_entropy": Pair(
        lambda a: losses.cross_entropy(a, _leaf(np.full((3, 4), 0.25)))[0],
        lambda g, a: _rows(g) * losses.cross_entropy(a, _leaf(np.full((3, 4), 0.25)))[1],
        x(3, 4)),
    "multi_margin": Pair(
        lambda a: margins.multi_margin_loss(a, _leaf(PLACES), 2, 1.0, None),
        lambda g, a: _rows(g) * margins.multi_margin_slope(a, _leaf(PLACES), 2, 1.0, None),
        x(3, 3)),
    "multilabel_margin": Pair(
        lambda a: margins.multilabel_margin_loss(a, _leaf(LABELS))[0],
        lambda g, a: _rows(g) * margins.multilabel_margin_slope(
            a, _leaf(LABELS), margins.multilabel_margin_loss(a, _leaf(LABELS))[1]), x(3, 3)),
    "mean_pool": Pair(
        lambda a: pooling.mean_pool(a, PLAIN, (3, 5), DIVISORS),
        lambda g, a: pooling.mean_pool_gradient(g, (5, 4), PLAIN, (3, 5), DIVISORS), x(2, 5, 4)),
    "max_pool": Pair(
        lambda a: pooling.max_pool_with_places(a, WINDOWS, COUNT)[0],
        lambda g, a: pool_gradients.largest_backward(
            g, pooling.max_pool_with_places(a, WINDOWS, COUNT)[1], (1, 2, 5, 4), WINDOWS),
        x(1, 2, 5, 4)),
    "pair_distances": Pair(
        lambda a: distances.pair_distances(a, _leaf(OTHER), 1.5),
        lambda g, a: distances.pair_distances_gradient(
            g, a, _leaf(OTHER), 1.5, distances.pair_distances(a, _leaf(OTHER), 1.5)), x(2, 3)),
    "row_distances": Pair(
        lambda a: distances.row_distances(a, 3.0),
        lambda g, a: distances.row_distances_gradient(g, a, 3.0, distances.row_distances(a, 3.0)),
        x(4, 3)),
    "table": Pair(
        lambda a: embeddings.bag_sums(a, _leaf(ROWS), _bags(_leaf(ROWS))),
        lambda g, a: embeddings.table_gradient(_picked(g, _bags(_leaf(ROWS)).of), _leaf(ROWS), 3),
        x(3, 2)),
    "bag_largest": Pair(
        lambda a: embeddings.bag_largest(a, _leaf(ROWS), _bags(_leaf(ROWS)))[0], _bag_gradient,
        x(3, 2)),
    **{f"segment {name}": _segments(name, initial)
       for name, initial in (("sum", 0.0), ("mean", 0.0), ("prod", 1.0), ("max", -9.0))},
    "ctc": Pair(lambda a: ctc.ctc_loss(_logs(a), *map(_leaf, CTC), blank=0)[0], _ctc_gradient,
                LOGITS),
    **{f"grid {how} {beyond}": _sampled(how, beyond) for how in range(3) for beyond in range(3)},
    **{f"places of a grid {how}": _placed(how) for how in (0, 2)},
    **{kind: _layer(kind, gates, states) for kind, gates, states in (
        ("lstm", 4, 2), ("gru", 3, 1), ("rnn_tanh", 1, 1))},
    "logistic": Pair(
        ops.logistic, lambda g, a: activations.logistic_gradient(g, ops.logistic(a)), x(7)),
    "tanh": Pair(ops.tanh, lambda g, a: activations.tanh_gradient(g, ops.tanh(a)), x(7)),
    "weights": Pair(
        _weights,
        lambda g, v: normalization.weight_norm_gradient(
            g, v, _leaf(np.full((3, 1), 2.0)), _lengths(v), 0)[0], x(3, 4)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")


@one_in(2)
@pytest.mark.parametrize("name", PAIRS)
def test_the_gradient_is_the_slope(name: str) -> None:
    function, gradient, at = PAIRS[name]
    (made,) = call(function, at)
    grad = np.random.default_rng(5).standard_normal(made.shape)
    (found,) = call(gradient, grad, at)
    directions = np.eye(at.size).reshape(-1, *at.shape) * STEP
    slopes = [
        ((call(function, at + d)[0] - call(function, at - d)[0]) * grad).sum() / (2 * STEP)
        for d in directions
    ]
    np.testing.assert_allclose(found, np.reshape(slopes, at.shape), rtol=1e-5, atol=1e-6)
