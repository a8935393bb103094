"""`x[key]` and `x[key] = value`: what the host has at once, views, or selections.

Keys of the host's arrays that are small are NumPy's (`host/parts.py`), basic ones views
(`basic.py`), all others copies (`selection.py`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.array_base import node_of, ref_of, type_of
from lazytensor.core.buffers.cell import Cell, View, extend, read, view_through, write_through
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import record
from lazytensor.core.policy import LOOP_OPERATIONS
from lazytensor.core.runtime.lending import Lent
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host import access_counters, parts
from lazytensor.frontends.numpy.indexing import selection
from lazytensor.frontends.numpy.indexing.assignment import (
    check_depth,
    is_same,
    plain,
    settled,
    source,
    spread,
)
from lazytensor.frontends.numpy.indexing.basic import Plan, plan, viewed, with_arrays
from lazytensor.frontends.numpy.ufuncs.errors import dummy
from lazytensor.frontends.numpy.ufuncs.promotion import recast

_Real: Final = np.ndarray
_HOSTS: Final = frozenset(
    {bool, int, float, complex, np.ndarray, *(np.dtype(code).type for code in "?bBhHiIlLqQefdFD")}
)
"""Classes of values that hold nothing lazy."""


_ONE: Final = parts.INTEGERS


def getitem(x: Lazy, key: Any) -> Any:
    """`x[key]`."""
    if type(x) is not ndarray:
        return _of_scalar(x, key) if type(x) is Scalar else recorded(x, key)
    found = None
    ref = x.ref
    if x._shadow is None or _lies_as_lent(x):
        if type(ref) is Lent:
            # `parts.read`, written out: a loop over rows does little else.
            if type(key) is not ndarray:
                try:
                    memory = ref.memory
                except AttributeError:  # another thread has ended it just now
                    return getitem(x, key)
                if type(ref) is Lent:
                    part = memory[key]
                    if (
                        type(part) is not _Real
                        or part.size < settings.small
                        or access_counters.is_factor()
                    ):
                        return part
                    del part  # not a view of the memory that anybody will write to
                del memory
        elif type(ref) is Cell and (bound := settings.small):
            kind = type(key)
            # Keys of one element, nearly: a look at more of their items takes longer than a view.
            if kind in _ONE or (
                kind is tuple and key and type(key[0]) in _ONE and type(key[-1]) in _ONE
            ):
                known = node_of(x).value
                if type(known) is _Real:  # an element is not worth a plan of the key
                    part = known[key]
                    if type(part) is not _Real:
                        del known  # memory is lent only while nobody else refers to it
                        access_counters.elements[0] += 1
                        if not access_counters.elements[0] % LOOP_OPERATIONS:
                            access_counters.look(ref)
                        return part
                    del part
                del known
            found = None if kind is _Real else plan(type_of(x), key)
            if found is None:
                key = with_arrays(key)
                part = parts.picked(ref, key)
                if part is not None:
                    return part
            elif found.type.size < bound:
                part = parts.read(x, key, found.type.size)
                if part is not None:
                    return part
    elif (type(ref) is View or type(x._shadow) is Turned) and (bound := settings.small):
        shown = type_of(x)
        if _is_one(key, shown.ndim):
            count = 1
        else:
            found = None if type(key) is _Real else plan(shown, key)
            count = bound if found is None else found.type.size
        if count < bound:
            part = parts.read(x, key, count)
            if part is not None:
                return part
    if found is None:
        found = plan(type_of(x), key)
        if found is None:
            return selection.read(x, with_arrays(key))
    return viewed(x, key, found)


def _lies_as_lent(x: Lazy) -> bool:
    """Whether the memory of an array that does not lie in rows is lent, and may be written to."""
    shadow = x._shadow
    return type(shadow) is Turned and type(x.ref) is Lent and shadow.flags.writeable


def _is_one(key: Any, ndim: int) -> bool:
    """Whether a key is of one element, by a look that takes less than a plan."""
    kind = type(key)
    if kind in _ONE:
        return ndim == 1
    return kind is tuple and len(key) == ndim and all(type(item) in _ONE for item in key)


def recorded(x: Lazy, key: Any) -> Any:
    """`x[key]` of an array, recorded wherever its values are."""
    found = plan(x.ref.type, key)
    if found is None:
        return selection.read(x, with_arrays(key))
    return viewed(x, key, found)


def _of_scalar(x: Scalar, key: Any) -> Any:
    """`x[key]` of a scalar, which never changes: of an array made of it."""
    try:
        return recorded(wrap(x.node), key)
    except IndexError:
        raise IndexError("invalid index to scalar variable.") from None


def _before(x: View, found: Plan) -> Node | None:
    """What `x` shows before its last step, if the same step is the last one of the plan."""
    chain = x.chain
    if len(chain) != 2 or chain[1] is not found.steps[-1] or x.type is not found.type:
        return None
    same = chain[0].signature(x.cell.type).type is found.target
    return read(x.cell, chain[:1]) if same else None


def _is_large(value: Any, bound: int) -> bool:
    """Whether a value is an array of at least `bound` elements. No small part takes one."""
    if type(value) is not ndarray:
        return False
    size: int = type_of(value).size
    return size >= bound


def setitem(x: ndarray, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    ref = ref_of(x)
    if (
        type(ref) is Lent
        and (x._shadow is None or _lies_as_lent(x))
        and type(value) in _HOSTS
        and type(key) is not ndarray
    ):
        try:
            memory = ref.memory
        except AttributeError:
            setitem(x, key, value)
            return
        if type(ref) is Lent:
            access_counters.written[0] += 1
            memory[key] = value
            return
        del memory
    if x._shadow is not None and not x._shadow.flags.writeable:
        raise ValueError("assignment destination is read-only")
    bound = settings.small
    if bound and type(x) is ndarray and not _is_large(value, bound):
        key = with_arrays(key)
        if parts.write(x, key, value):
            return
        ref = ref_of(x)  # to look at it may have changed it
    found = plan(type_of(x), key)
    if found is None:
        selection.write(x, with_arrays(key), value)
        return
    if type(value) is ndarray:
        given = value.ref
        is_own = (given is ref or type(given) is View) and given.cell is ref.cell
        if is_own and is_same(given, view_through(ref, found.steps, found.type)):
            return  # the second half of `x[key] += …`, whose first half has written already
    node = _planned(found, value)
    if node is None:
        node = _fitted(found, value)
    if type(ref) is View:
        view = ref
        cell, chain = view.cell, extend(view.chain, found.front)
    else:
        cell, chain = ref, found.front
    if chain:
        write_through(cell, chain, node)
    else:
        cell.write(node)


def _planned(found: Plan, value: Any) -> Node | None:
    """`value` as it is written, if one of its type was before."""
    kind = type(value)
    if kind is ndarray:
        if len(found.steps) == 2 and type(value.ref) is View:
            given = _before(value.ref, found)
            if given is not None:
                return given
        given = node_of(value)
        store = found.stores.get(given.type)
    else:
        store = found.stores.get(kind)
        given = None if store is None else store.scalar(value)
    if store is None or given is None:
        return None
    signature = store.signature
    if signature is None:
        return given
    if given.op is signature.op is ops.reshape:
        return ops.reshaped(given, found.target)
    return record(signature, (given,))


def _element(value: Any, dtype: np.dtype) -> Any:
    """`value` as NumPy assigns it to a single element, of which it asks for a number."""
    made = np.empty(1, dtype)
    made[0] = value
    return made[0]


def _fitted(found: Plan, value: Any) -> Node:
    """`value` as it is written. Raises: ValueError, TypeError."""
    if found.scalar and value is np.ma.masked:
        value = _element(value, found.type.dtype)
    value = plain(value, found.type.dtype)
    given = source(value, found.type.dtype)
    check_depth(value, given, found.type.ndim)
    if found.scalar and given.type.ndim:
        np.empty(1, found.type.dtype)[0] = dummy(given.type)  # whether it takes an array here
    node = recast(given, found.type.dtype)
    if found.target.ndim and not node.type.ndim:
        made = ops.broadcast(node, shape=found.target.shape)
    else:
        made = settled(ops.reshaped(spread(node, found.type), found.target))
    if not (found.scalar and given.type.ndim):  # NumPy warns of that
        found.learn(value, given, made)
    return made
