"""Repeated calls of rows, recorded from a plan without running the row again.

A row has one memory of plans (`core.trace.call_memo`). Its keys are the types of the tensors among
the arguments, and all other arguments by value. These alone must decide what a row records. So rows
that draw random numbers, look at data, check indices, or write are not given to `remembering`; rows
that warn do so by `warn_each_time`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import Parameter

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.memo import keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import nodes_made, user_place
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.trace.call_memo import CallPlan, Key, learned
from lazytensor.frontends.torch.dispatch import forms
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.native.plans import note

Row = Callable[..., Any]
PLAIN_KEYS: Final = forms.PLAIN - {float, complex}
"""Classes of arguments that enter a key by value. Floats do too, in a form of their own."""
_SEEN: Final = object()
"""Marks a call seen once. Plans are made at the second call, as most calls come once or often."""


class _Warned(threading.local):
    count = 0


_warned: Final = _Warned()


def warn_each_time(text: str) -> None:
    """Warn at the user's line. Such a call gets no plan, so that the next one warns again."""
    _warned.count += 1
    warn_at(user_place(), text, UserWarning)


def remembering(row: Row) -> Row:
    """The row, which makes nodes and runs only for the first two calls with the same key."""
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
            made = plan.replay(nodes)
            results = [made[i] for i in plan.results]
            if boxed is not None:
                note(call, plan, nodes, results)
            return results[0] if plan.form is None else plan.form(results)
        if plan is _SEEN:
            return _learn(plans, key, nodes, row, args, kwargs)
        if key not in plans:
            keep(plans, key, _SEEN)
        return row(*args, **kwargs)

    return call


def _key(args: Sequence[Any], nodes: list[Node]) -> Key | None:
    """The key of arguments; their nodes are appended to `nodes`. None for an unusual argument."""
    parts: list[Any] = []
    for x in args:
        kind = x.__class__
        if kind is Tensor or kind is Parameter:
            held = x.untyped_storage().handle
            made = held.node if held.__class__ is Cell else held.shown(x).node
            if x.is_neg() or x.is_conj():
                return None
            if made in nodes:  # plans tell operands apart by identity
                parts.append(nodes.index(made))
                continue
            nodes.append(made)
            parts.append(made.type)
        elif kind is float:
            if x != x:
                return None
            parts.append(x or str(x))  # a string tells 0.0 from -0.0
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


def _formed(kind: Any, there: Sequence[bool], made: Sequence[Node]) -> Any:
    """A tuple or list of nodes, with None where there is none."""
    rest = iter(made)
    return kind([next(rest) if each else None for each in there])


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
    all_nodes = _warned.count == warned and all(x is None or isinstance(x, Node) for x in made)
    found = [x for x in made if x is not None]
    plan = learned(found, nodes, before, sparing=True) if all_nodes and found else None
    if plan is not None and several:
        plan.form = partial(_formed, result.__class__, tuple([x is not None for x in made]))
    plans[key] = plan
    return result
