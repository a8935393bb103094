"""Calls of rows that were seen before: recorded from their plan, without running the row again.

A row has one memory of plans (`core.calls`), by the types of the tensors among its arguments and
everything else as it is. What a row makes must follow from these alone: rows that draw random
numbers, look at data, check indices, or write are not given to `remembering`; one that warns does
so by `warn_each_time`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import Parameter

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.memo import keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.source_location import user_place
from lazytensor.core.ir.trace_state import nodes_made
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.trace.call_memo import CallPlan, Key, learned
from lazytensor.frontends.torch.dispatch import composition

Row = Callable[..., Any]
PLAIN_KEYS: Final = composition.PLAIN - {float, complex}
"""Classes of arguments that are part of a key as they are; floats are as well."""
_SEEN: Final = object()
"""Known of a call that came once: most calls come once or often."""


class _Warned(threading.local):
    count = 0


_warned: Final = _Warned()


def warn_each_time(text: str) -> None:
    """Warn at the user's line; a call that does has no plan, as its next one is to warn as well."""
    _warned.count += 1
    warn_at(user_place(), text, UserWarning)


def remembering(row: Row) -> Row:
    """The row, which is run for the first two calls of a kind only. It makes nodes."""
    plans = memory()
    default_dtype = torch.get_default_dtype

    def call(*args: Any, **kwargs: Any) -> Any:
        nodes: list[Node] = []
        try:
            key = _key(args, nodes)
            if kwargs and key is not None:
                named = _key(tuple(kwargs.values()), nodes)
                key = None if named is None else (*key, *kwargs, *named)
        except (AttributeError, NotImplementedError):  # a tensor that is not the device's
            key = None
        if key is None:
            return row(*args, **kwargs)
        key = default_dtype(), *key
        plan = plans.get(key)
        if plan.__class__ is CallPlan:
            made = plan.record(nodes)
            if plan.form is None:
                return made[plan.results[0]]
            return plan.form([made[i] for i in plan.results])
        if plan is _SEEN:
            return _learn(plans, key, nodes, row, args, kwargs)
        if key not in plans:
            keep(plans, key, _SEEN)
        return row(*args, **kwargs)

    return call


def _key(args: Sequence[Any], nodes: list[Node]) -> Key | None:
    """What decides of arguments; their nodes are put into `nodes`. None if one is unusual."""
    parts: list[Any] = []
    for x in args:
        kind = x.__class__
        if kind is Tensor or kind is Parameter:
            held = x.untyped_storage().handle
            made = held.node if held.__class__ is Cell else held.shown(x).node
            if x.is_neg() or x.is_conj():
                return None
            nodes.append(made)
            parts.append(made.type)
        elif kind is float:
            if x != x:
                return None
            parts.append(x or str(x))  # which tells 0.0 from -0.0
            parts.append(kind)
        elif kind in PLAIN_KEYS:
            parts.append(kind)
            parts.append(x)
        elif kind is list or kind is tuple:
            inner = _key(x, nodes)
            if inner is None:
                return None
            parts.append(inner)
        else:
            return None
    return tuple(parts)


def _learn(
    plans: dict[Key, Any],
    key: Key,
    nodes: list[Node],
    row: Row,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    before, warned = nodes_made(), _warned.count
    result = row(*args, **kwargs)
    several = result.__class__ is tuple or result.__class__ is list
    made = result if several else (result,)
    if len({*nodes}) == len(nodes):  # else another call of the kind teaches
        all_nodes = _warned.count == warned and all(isinstance(x, Node) for x in made)
        plan = learned(made, nodes, before) if all_nodes else None
        if plan is not None and several:
            plan.form = result.__class__
        plans[key] = plan
    return result
