"""Who refers to a node besides the graph that is cut, known by counting references.

The baseline is measured at import, by the same expressions on nodes that nobody else refers to.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Final
from weakref import getweakrefcount

import numpy as np

from lazytensor.core.ir.node import Input, Node, Recorded, Signature, has_several
from lazytensor.core.ir.op import PARAMETER, element
from lazytensor.core.ir.types import tensor_type


def held(nodes: list[Node], edges: Mapping[Node, int], outputs: set[Node]) -> list[Node]:
    """Pending nodes, no outputs, that somebody else than the graph's own nodes refers to.

    Of a node with several results these are held, one by one: it has no value of its own.
    """
    return [
        node
        for node in nodes
        if node not in outputs
        and not has_several(node)
        and (node not in edges or sys.getrefcount(node) - edges[node] > _UNSHARED)
    ]


def owned(leaves: list[Node], edges: Mapping[Node, int]) -> list[bool]:
    """Per leaf: whether nothing but the graph's nodes refers to it, weakly (a read) or not."""
    return [
        sys.getrefcount(leaf) - edges[leaf] <= _UNSHARED and not getweakrefcount(leaf)
        for leaf in leaves
    ]


def _references_of_bookkeeping() -> int:
    """References that `held` and `owned` see to a node that only a graph's edge refers to."""
    type = tensor_type(np.dtype(np.float32))
    user = Recorded(Signature(element, (0,), type), (Input(PARAMETER, type),))
    nodes = [*user.operands]
    edges = Counter(user.operands)
    return next(iter([sys.getrefcount(node) - edges[node] for node in nodes]))


_UNSHARED: Final = _references_of_bookkeeping()


def owned_by_one(leaves: list[Node]) -> list[bool]:
    """What `owned` says, where each leaf is an operand once, of one node."""
    return [sys.getrefcount(x) <= _UNSHARED_OF_ONE and not getweakrefcount(x) for x in leaves]


def _references_of_one() -> int:
    """References that `owned_by_one` sees to a leaf that only one node refers to."""
    type = tensor_type(np.dtype(np.float32))
    user = Recorded(Signature(element, (0,), type), (Input(PARAMETER, type),))
    leaves = [x for x in user.operands]  # noqa: C416  # as its caller makes the list
    return next(iter([sys.getrefcount(x) for x in leaves]))


_UNSHARED_OF_ONE: Final = _references_of_one()


def has_own_array(leaf: Node) -> bool:
    """Whether a leaf's value is an array of the host's that nobody else refers to, or shows."""
    value = leaf.value
    return (
        value.__class__ is np.ndarray
        and value.base is None
        and value.flags.writeable
        and sys.getrefcount(value) <= _UNSHARED_VALUE
        and not getweakrefcount(value)
    )


def _references_of_a_value() -> int:
    """References that `has_own_array` sees to an array that only its leaf has."""
    leaf = Input(PARAMETER, tensor_type(np.dtype(np.float32)), np.zeros((), np.float32))
    value = leaf.value
    return sys.getrefcount(value)


_UNSHARED_VALUE: Final = _references_of_a_value()
