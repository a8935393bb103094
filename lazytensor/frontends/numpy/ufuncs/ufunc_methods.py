"""The methods of ufuncs: reduce, accumulate, reduceat, outer, at."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError, Unsupported
from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ops.folding import fold
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.arrays.standins import laid
from lazytensor.frontends.numpy.functions import folding, reductions
from lazytensor.frontends.numpy.functions.indices import known
from lazytensor.frontends.numpy.functions.signatures import NO_VALUE, Given
from lazytensor.frontends.numpy.host import parts
from lazytensor.frontends.numpy.host.fallback import called, fallback, lazies, on_host
from lazytensor.frontends.numpy.host.small import at_once, entered, grows, lazy_if_large
from lazytensor.frontends.numpy.indexing import masked, selection
from lazytensor.frontends.numpy.indexing.assignment import settled
from lazytensor.frontends.numpy.indexing.basic import with_arrays
from lazytensor.frontends.numpy.interop import foreign
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.delivery import deliver
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly
from lazytensor.frontends.numpy.ufuncs.loops import Loop
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, canonical, convert, recast

NAMED_REDUCTIONS: Final = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
"""Ufuncs whose reduction is a NumPy function."""

BITWISE: Final = {
    "bitwise_and": (ops.reduce_and, -1),
    "bitwise_or": (ops.reduce_or, 0),
    "bitwise_xor": (ops.reduce_xor, 0),
    "logical_xor": (ops.reduce_xor, 0),
}
"""Ufuncs that reduce bit by bit: the op and its neutral value."""

FOLDED: Final = frozenset(["fmax", "fmin", "gcd", "hypot", "lcm", "logaddexp", "logaddexp2"])
"""Ufuncs that reduce in pairs."""

RUNNING: Final = {
    "add": ops.cumsum,
    "multiply": ops.cumprod,
    "maximum": ops.cummax,
    "minimum": ops.cummin,
    "logical_and": ops.cummin,
    "logical_or": ops.cummax,
}
SCATTERED: Final = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}


Method = Callable[..., Any]


def _on_host(self: UfuncMethods, method: str, args: Any, kwargs: Any, loud: bool = True) -> Any:
    real = getattr(self.real, method)
    name = "at" if method == "at" else f"{self.__name__}.{method}"
    return (fallback if loud else on_host)(name, real, args, kwargs)


def _guarded(
    self: UfuncMethods, method: str, record: Callable[[], Any], args: Any, kwargs: Any
) -> Any:
    """`record()`, or NumPy's method if that cannot be lazy or raises."""
    if not lazies((args, kwargs)):
        return entered(called(getattr(self.real, method), args, kwargs))
    try:
        return laid(record(), getattr(self.real, method), args, kwargs)
    except HostOnly:
        return _on_host(self, method, args, kwargs, loud=False)
    except (Unsupported, ShapeError, DTypeError):
        return _on_host(self, method, args, kwargs)


def _reduce(self: UfuncMethods, *args: Any, **kwargs: Any) -> Any:
    """`ufunc.reduce`."""
    array, options = _options(*args, **kwargs)
    if options["out"] is ...:
        return foreign.kept_as_arrays(_reduce(self, array, **{**options, "out": None}))
    if isinstance(options["out"], tuple):
        options["out"] = options["out"][0]
    return _guarded(self, "reduce", lambda: _reduced(self, array, options), (array,), options)


def _options(
    array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = NO_VALUE, where: Any = True,
) -> tuple[Any, dict[str, Any]]:  # fmt: skip
    """The array that is reduced, and how: without `initial` and `where` if they are not given."""
    how = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims}
    how |= {} if initial is NO_VALUE else {"initial": initial}
    return array, how if where is True else {**how, "where": where}


def _reduced(self: UfuncMethods, array: Any, options: dict[str, Any]) -> Any:
    name, given = self.__name__, Given(array=array, **options)
    _check_logical(self, given.dtype)
    if given.out is not None and not isinstance(given.out, ndarray):
        self.real.reduce(np.zeros(1), out=given.out)  # raises
    if name in BITWISE:
        return _bitwise(self, given)
    if name in FOLDED and not options.keys() & {"initial", "where"}:
        return _folded(self, given)
    if name not in NAMED_REDUCTIONS:
        raise Unsupported(f"{name}.reduce")
    if "initial" in options and (name.startswith("logical") or given.initial is None):
        raise Unsupported(f"{name}.reduce with initial={given.initial}")
    function = NAMED_REDUCTIONS[name]
    if function not in ("sum", "prod"):
        del options["dtype"]
        if given.dtype is not None:
            array = wrap(recast(operand(array), canonical(np.dtype(given.dtype))))
    return reductions.LAZY[function](array, **options)


def _check_logical(self: UfuncMethods, dtype: Any) -> None:
    """Leave any dtype but bool to NumPy, which has no logical loop for most."""
    if dtype is not None and self.__name__.startswith("logical") and np.dtype(dtype) != BOOL:
        raise HostOnly(f"{self.__name__} in {dtype}")


def _bitwise(self: UfuncMethods, given: Given) -> Any:
    op, neutral = BITWISE[self.__name__]
    node = operand(given.array)
    self.loop((node.type.dtype, node.type.dtype))  # raises where it has none
    if given.initial is not NO_VALUE:
        raise Unsupported(f"{self.__name__}.reduce with initial")
    if self.__name__ == "logical_xor":
        node = convert(node, BOOL)
    elif given.dtype is not None:
        node = convert(node, canonical(np.dtype(given.dtype)))
    axes = reductions.axes_of(given.axis, node.type.ndim)
    filler = True if neutral and node.type.dtype == BOOL else neutral
    if neutral and node.type.dtype.kind == "u":
        filler = int(np.iinfo(node.type.dtype).max)
    chosen = reductions.masked(node, given.where, filler)
    made = op(chosen, axes=axes) if axes else chosen
    return deliver(reductions.kept(node, made, axes, given.keepdims), given.out)


def _folded(self: UfuncMethods, given: Given) -> Any:
    """Reduce in pairs, as the function is associative up to rounding."""
    node = operand(given.array)
    node = node if given.dtype is None else convert(node, canonical(np.dtype(given.dtype)))
    loop = self.loop((node.type.dtype, node.type.dtype))
    axes = reductions.axes_of(given.axis, node.type.ndim)
    if loop.body is None or any(node.type.shape[i] == 0 for i in axes):
        raise Unsupported(f"{self.__name__}.reduce of nothing, or of {node.type.dtype}")
    if len(axes) > 1:
        ones = np.ones((1,) * node.type.ndim, node.type.dtype)
        self.real.reduce(ones, axis=given.axis)  # may raise
    if self.__name__ == "gcd" and axes:
        made = ops.reduce_gcd(convert(node, loop.dtypes[0]), axes=axes)
    else:
        made = fold(lambda x, y: loop(x, y), convert(node, loop.dtypes[0]), axes)
    return deliver(reductions.kept(node, made, axes, given.keepdims), given.out)


def _accumulate(
    self: UfuncMethods, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """`ufunc.accumulate`."""

    def record() -> Any:
        op: Op | None = RUNNING.get(self.__name__)
        _check_logical(self, dtype)
        node = operand(array)
        ordered = op in (ops.cummax, ops.cummin)
        if op is None or axis is None or (ordered and node.type.dtype.kind == "c"):
            raise Unsupported(f"{self.__name__}.accumulate")
        if not node.type.ndim:
            self.real.accumulate(np.zeros(()))  # raises
        place = normalize_axis_index(operator.index(axis), node.type.ndim)
        kind = node.type.dtype if dtype is None else canonical(np.dtype(dtype))
        if self.__name__.startswith("logical"):
            kind = BOOL
        elif dtype is None and op in (ops.cumsum, ops.cumprod):
            kind = reductions.sum_dtype(kind)
        target = out[0] if isinstance(out, tuple) else out
        if kind == BOOL:
            op = reductions.OF_FLAGS.get(op, op)
        node = recast(node, kind)
        made = op(node, axis=place)
        check("accumulate", [node], made, axes=(place,), running=True)
        return deliver(made, target)

    options = {"axis": axis, "dtype": dtype, "out": out}
    return _guarded(self, "accumulate", record, (array,), options)


def _reduceat(self: UfuncMethods, *args: Any, **kwargs: Any) -> Any:
    """`ufunc.reduceat`."""
    return _guarded(self, "reduceat", lambda: _segments(self, *args, **kwargs), args, kwargs)


def _segments(
    self: UfuncMethods, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """`reduceat` with known indices."""
    mode, places = SCATTERED.get(self.__name__), known(indices)
    node = operand(array)
    if mode is None or places is None or not node.type.ndim or node.type.dtype.kind in "bc":
        raise Unsupported(f"{self.__name__}.reduceat")
    place = normalize_axis_index(operator.index(axis), node.type.ndim)
    if dtype is not None:
        node = recast(node, canonical(np.dtype(dtype)))
    elif mode in ("add", "mul"):
        node = convert(node, reductions.sum_dtype(node.type.dtype))
    made = folding.by_segment(node, places, place, mode)
    return deliver(made, out[0] if isinstance(out, tuple) else out)


def recorded_outer(self: Any, A: Any, B: Any, **kwargs: Any) -> Any:
    """`ufunc.outer`."""
    pairs = self.nin == 2 and self.real.signature is None
    if not pairs or not (lazies((A, B, kwargs)) or (not kwargs and grows(A, B))):
        return entered(called(self.real.outer, (A, B), kwargs))
    try:
        left, right = operand(A), operand(B)
    except HostOnly:
        return _on_host(self, "outer", (A, B), kwargs, loud=False)
    if not left.type.ndim or not right.type.ndim:  # numbers become arrays, with strong dtypes
        return self(_as_array(A, left), _as_array(B, right), **kwargs)
    shape = left.type.shape + (1,) * right.type.ndim
    made = self(wrap(ops.reshape(left, shape=shape)), wrap(right), **kwargs)
    return laid(made, self.real.outer, (A, B), kwargs)


def _as_array(x: Any, node: Node) -> ndarray:
    """`x`, whose node is `node`, as an array."""
    return x if type(x) is ndarray else wrap(settled(node))


def _at(self: UfuncMethods, a: Any, indices: Any, *b: Any) -> None:
    """`ufunc.at`: unbuffered, so an index given twice counts twice."""
    if not issubclass(type(a), Lazy) or type(a) is Scalar:
        _on_host(self, "at", (a, indices, *b), {}, loud=False)
        return
    if a._shadow is not None and not a._shadow.flags.writeable:
        raise ValueError("operand array with iterator write flag set is read-only")
    if len(b) == 1 and settings.small and parts.write(a, indices, b[0], self.real.at):
        return
    is_subtracted = self.__name__ == "subtract"
    mode = "add" if is_subtracted else SCATTERED.get(self.__name__)
    unordered = mode in ("max", "min") and a.dtype.kind == "c"
    if mode is None or len(b) != 1 or a.dtype.kind == "b" or unordered or masked.has_mask(indices):
        _on_host(self, "at", (a, indices, *b), {})
        return
    try:
        values = operand(np.asarray(b[0]) if type(b[0]) in PYTHON_NUMBERS else b[0])
    except HostOnly:
        _on_host(self, "at", (a, indices, *b), {}, loud=False)
        return
    made = self.loop((a.dtype, values.type.dtype)).results[0]
    if not np.can_cast(made, a.dtype, "same_kind"):
        _on_host(self, "at", (a, indices, *b), {})  # the sum is cast, not the addend
        return
    if is_subtracted:  # adding the negative rounds and wraps around as subtraction does
        values = -recast(values, a.dtype)
    selection.scatter(a, indices, wrap(settled(values)), mode)


def _at_once_or(record: Method, name: str) -> Method:
    """A method: NumPy's own at once, or an argument's class that overrides it, or `record`."""

    def method(self: UfuncMethods, /, *args: Any, **kwargs: Any) -> Any:
        if at_once(args, kwargs):
            return lazy_if_large(getattr(self.real, name)(*args, **kwargs))
        if foreign.takes_part(args, kwargs):
            return self._overridden(name, args, kwargs)
        return record(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = getattr(np.ufunc, name).__doc__
    return method


class UfuncMethods:
    """The methods of a ufunc."""

    __name__: str
    real: np.ufunc
    nin: int
    loop: Callable[..., Loop]
    _outer: Method

    reduce = _at_once_or(_reduce, "reduce")
    accumulate = _at_once_or(_accumulate, "accumulate")
    reduceat = _at_once_or(_reduceat, "reduceat")

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """NumPy's `outer`."""
        if foreign.overrides(A) or foreign.overrides(B):  # not `wraps`: both become arrays
            return self._overridden("outer", (A, B), kwargs)
        return self._outer(A, B, **kwargs)

    def at(self, *args: Any) -> Any:
        """NumPy's `at`."""
        args = *args[:1], *map(with_arrays, args[1:2]), *args[2:]
        if at_once(args, {}):
            return self.real.at(*args)
        if foreign.takes_part(args, {}):
            return self._overridden("at", args, {})
        return _at(self, *args)

    def _overridden(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a method that the classes of the arguments override."""
        real = getattr(self.real, method)
        out = kwargs.get("out")
        given = (*args, *(out if type(out) is tuple else (out,)))
        name = f"{self.__name__}.{method}"
        return foreign.overridden(getattr(self, method), real, name, given, args, kwargs)
