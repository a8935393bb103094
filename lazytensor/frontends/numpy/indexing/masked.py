"""Masked reads `x[mask]`, put off: elementwise functions of them stay in the full shape.

`Z[m] = f(Z[m])` then becomes `select(m, f(Z), Z)`, with no shape that depends on data. Any other
use of such an array first computes the mask and makes it an ordinary array.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, View, writing
from lazytensor.core.buffers.refcounts import is_own
from lazytensor.core.device import host_memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT
from lazytensor.core.policy import SECONDS_PER_CALL, TRIALS
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.locking import lock
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, ndarray, new, wrap
from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.host.fallback import lazies, real
from lazytensor.frontends.numpy.host.profitability import account
from lazytensor.frontends.numpy.indexing.assignment import source
from lazytensor.frontends.numpy.indexing.basic import viewed
from lazytensor.frontends.numpy.ufuncs.promotion import convert, host_leaf, recast


class Masked(ndarray, own=True):
    """The result of `x[mask]`: `full` where `mask` holds. `made`: the ordinary array, once made."""

    __slots__ = ("full", "made", "mask")

    full: Node
    mask: Node
    made: Cell | View | None

    @property
    def ref(self) -> Any:
        """The cell of the ordinary array, which is computed now."""
        if self.made is None:
            scheduler.sync(self.mask, self.full, cause="boolean mask")
            account().lost(TRIALS * SECONDS_PER_CALL, self.full.type.size)
            full = scheduler.observe(self.full)
            lines = full.reshape(self.mask.type.size, *full.shape[self.mask.type.ndim :])
            self.made = Cell(host_leaf(lines.take(_places(self.mask), 0)))
        return self.made

    @ref.setter
    def ref(self, ref: Cell | View) -> None:
        self.made = ref

    @property  # type: ignore[misc]  # looks like an ordinary array
    def __class__(self) -> Any:
        return ndarray

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the elements."""
        return self.full.type.dtype if self.made is None else self.made.type.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        if self.made is not None:
            return self.made.type.ndim
        return self.full.type.ndim - self.mask.type.ndim + 1

    @property
    def is_put_off(self) -> bool:
        """Whether a computation is needed to make it an ordinary array."""
        return self.made is None and (self.full.value is None or self.mask.value is None)


_found: Final[WeakKeyDictionary[Node, np.ndarray]] = WeakKeyDictionary()


def _places(mask: Node) -> np.ndarray:
    """The places where a mask holds. Taking elements by places is faster than by the mask.

    They are remembered, as programs use one mask for several arrays.
    """
    found = _found.get(mask)
    if found is None:
        found = _found[mask] = np.flatnonzero(scheduler.observe(mask))
    return found


REDUCTIONS: Final = frozenset(["all", "any", "mean", "prod", "std", "sum", "var"])
"""Reductions that take `where=`: `x[m].sum()` is `x.sum(where=m)`, whose shape is known."""


def reduced(name: str, x: Masked) -> Any:
    """The reduction of a whole masked read; None if it must become an ordinary array first."""
    if x.made is not None or x.full.type.ndim != x.mask.type.ndim:
        return None
    return getattr(wrap(x.full), name)(where=wrap(x.mask))


def has_mask(key: Any) -> bool:
    """Whether a part of a key is a mask or a single flag."""
    return any(map(_is_mask, key)) if type(key) is tuple else _is_mask(key)


def _is_mask(item: Any) -> bool:
    if isinstance(item, Lazy | np.ndarray):
        return item.dtype.kind == "b"
    if isinstance(item, list | tuple):
        return bool(item) and all(map(_is_mask, item))  # flags beside numbers count as numbers
    return isinstance(item, bool | np.bool_)


def as_indices(x: Lazy, key: Any) -> tuple[Any, ...] | None:
    """`key` with its masks as equivalent integer arrays; None if a mask is not known."""
    found: list[Any] = []
    axis = 0
    for item in key if type(key) is tuple else (key,):
        if item is ...:
            return None  # it hides which axes a mask is for
        if not _is_mask(item):
            found.append(item)
            axis += item is not None
            continue
        if isinstance(item, Lazy) or lazies(item):
            return None
        mask = np.asarray(item)
        if not mask.ndim or mask.shape != x.shape[axis : axis + mask.ndim]:
            return None
        found += mask.nonzero()
        axis += mask.ndim
    return tuple(found)


def read(x: Lazy, key: Any) -> Any:
    """`x[key]`, `key` having a mask. Raises: IndexError."""
    items = key if type(key) is tuple else (key,)
    mask = _node(items[0])
    is_small = x.size < settings.small
    if len(items) == 1 and mask.type.ndim and not is_small:
        check_shape(x, mask)
        front = mask.type.ndim
        if mask.type.shape != x.shape[:front]:
            none = (0, *x.shape[front:])
            return wrap(ops.broadcast(ops.scalar(0, x.dtype), shape=none))
        return _masked(x.node, mask)
    scheduler.sync(x.node, *(y.node for y in lazies(key)), cause="boolean mask")
    chosen = scheduler.observe(x.node)[real(key)]
    if is_small or not isinstance(chosen, np.ndarray):
        return chosen
    return wrap(host_leaf(np.array(chosen)))


def check_shape(x: Lazy, mask: Node) -> None:
    """Raise NumPy's IndexError unless `mask` fits the first axes of `x`, or is empty."""
    if mask.type.ndim > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, "
            f"but {mask.type.ndim} were indexed"
        )
    for axis, (n, size) in enumerate(zip(mask.type.shape, x.shape, strict=False)):
        if n and n != size:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{size} but size of corresponding boolean axis is {n}"
            )


def _masked(full: Node, mask: Node) -> Masked:
    array: Masked = new(Masked)
    array.full, array.mask, array.made = full, mask, None
    array._shadow = array._base = None
    return array


def any_masked(xs: Sequence[Any]) -> bool:
    """Whether any operand is a masked read that is still put off."""
    return any(type(x) is Masked and x.made is None for x in xs)


def apply(function: Any, inputs: Sequence[Any]) -> Any:
    """The masked result of a ufunc; None if the operands do not fit together in the full shape."""
    if function.signature is not None:
        return None
    first = next(x for x in inputs if type(x) is Masked)
    operands = []
    for x in inputs:
        if type(x) is Masked:
            if x.made is not None or not _alike(x, first):
                return None
            operands.append(wrap(x.full))
        elif isinstance(x, bool | int | float | complex | np.generic) or _is_point(x):
            operands.append(x)
        else:
            return None
    made = function(*operands)
    results = made if type(made) is tuple else (made,)
    if any(result.shape != first.full.type.shape for result in results):
        return None
    wrapped = tuple(_masked(operand(result), first.mask) for result in results)
    return wrapped if type(made) is tuple else wrapped[0]


def _is_same_mask(x: Node, y: Node, depth: int = 4) -> bool:
    """Whether two masks are the same computation, as in `Z[Z > 1] = f(Z[Z > 1])`."""
    if x is y:
        return True
    if x.op is not y.op or x.attrs != y.attrs or x.type is not y.type or not depth:
        return False
    if x.op is SLOT:
        return repr(x.value) == repr(y.value)  # `repr` tells 0.0 from -0.0
    if not x.operands or len(x.operands) != len(y.operands):
        return False
    pairs = zip(x.operands, y.operands, strict=True)
    return all(_is_same_mask(a, b, depth - 1) for a, b in pairs)


def _alike(x: Masked, y: Masked) -> bool:
    return _is_same_mask(x.mask, y.mask) and x.full.type.shape == y.full.type.shape


def _is_point(x: Any) -> bool:
    return isinstance(x, Lazy) and not x.ndim


def write(x: ndarray, key: Any, value: Any) -> bool:
    """Do `x[key] = value` as a select, if `key` has one mask and `value` fits without counting.

    Returns: whether it was done.
    """
    items = key if type(key) is tuple else (key,)
    masks = [i for i, item in enumerate(items) if _is_mask(item)]
    rest = [item for i, item in enumerate(items) if i != masks[0]]
    mask = _node(items[masks[0]])
    if len(items) == 1 and mask.type.ndim:
        check_shape(x, mask)
    single = len(masks) == 1 and all(map(_is_basic, rest)) and mask.type.ndim > 0
    return single and _select(x, items[: masks[0]], mask, items[masks[0] + 1 :], value)


def write_on_host(x: ndarray, key: Any, value: Any) -> None:
    """Do `x[key] = value` by NumPy, with its errors, as the number of elements is data."""
    read = None if x.ref.__class__ is Cell else x.node  # held, so that a view's node stays the same
    scheduler.sync(x.node, *(y.node for y in lazies((key, value))), cause="boolean mask")
    account().lost(TRIALS * SECONDS_PER_CALL, x.size)
    mask, given = real(key), real(value)
    while not _is_written(x, mask, given):
        read = x.node
        scheduler.sync(read, cause="boolean mask")  # another thread has written to it


def _is_written(x: ndarray, mask: Any, given: Any) -> bool:
    """Do `x[mask] = given` with NumPy, if the values are computed. Returns: whether it was done."""
    ref = x.ref
    with lock, writing:
        if ref.__class__ is Cell and is_own(ref):
            ref.node.value[mask] = given
            ref.reads = None
            return True
        array = ref.known()
        if array is None:
            node = x.node
            if node.value is None:
                return False
            array = scheduler.observe(node)
        start = perf_counter()
        array = host_memory.copied(array)
        account().lost(perf_counter() - start, x.size)
        array[mask] = given
        ref.write(host_leaf(array))
        return True


def _select(x: ndarray, before: Any, mask: Node, after: Any, value: Any) -> bool:
    """Write `value` where `mask` holds, if both fit by shape alone; whether they did."""
    if not _fits(x, before, after, mask):
        return False
    items = (*before, *after)
    end = () if any(item is ... for item in items) else (...,)  # makes it a view in any case
    view = viewed(x, (*before, *[slice(None)] * mask.type.ndim, *after, *end))
    place = _axes_of(before, x, after, mask.type.ndim)
    rest = view.ndim - place - mask.type.ndim
    fitted = _fitted(value, mask, view, rest, whole=not items)
    if fitted is None:
        return False
    shape = (*mask.type.shape, *[1] * rest)
    flag = mask if shape == mask.type.shape else ops.reshape(mask, shape=shape)
    view.ref.write(ops.select(flag, convert(fitted, x.dtype), view.node))
    return True


def _fitted(value: Any, mask: Node, view: Lazy, rest: int, whole: bool) -> Node | None:
    """`value` in a shape that broadcasts to the view as to the selection; None if impossible."""
    if type(value) is Masked and value.made is None:
        same = _is_same_mask(value.mask, mask) and value.full.type.shape == view.shape and whole
        if same:
            return value.full
    node = recast(source(value, view.dtype), view.dtype)
    shape = node.type.shape
    if len(shape) == rest + 1 and shape[0] == 1:
        shape = shape[1:]
        node = ops.reshape(node, shape=shape)
    if len(shape) > rest:
        return None
    tail = view.shape[view.ndim - len(shape) :]
    return node if all(n in (1, m) for n, m in zip(shape, tail, strict=True)) else None


def _is_basic(item: Any) -> bool:
    return item is None or item is ... or type(item) in (slice, int)


def _node(mask: Any) -> Node:
    return mask.node if isinstance(mask, Lazy) else host_leaf(np.array(real(mask), np.bool_))


def _fits(x: ndarray, before: Any, after: Any, mask: Node) -> bool:
    """Whether the mask's shape fits its axes. The general path raises errors."""
    used = sum(item is not None and item is not ... for item in (*before, *after))
    if used + mask.type.ndim > x.ndim or sum(i is ... for i in (*before, *after)) > 1:
        return False
    axis = sum(item is not None for item in before)
    if any(item is ... for item in before):
        axis = x.ndim - mask.type.ndim - sum(item is not None for item in after)
    return mask.type.shape == x.shape[axis : axis + mask.type.ndim]


def _axes_of(before: Any, x: ndarray, after: Any, ndim: int) -> int:
    """The number of the view's axes before the mask's."""
    count = sum(type(item) is not int and item is not ... for item in before)
    if any(item is ... for item in before):
        count += x.ndim - ndim - sum(i is not None and i is not ... for i in (*before, *after))
    return count
