"""Recipes: plans of calls of NumPy's functions and methods, with the form of their results.

Data flow. A call's arguments are read (`core/trace/call_memo.py`). A call that has no plan yet, or
cannot have one, takes the slow path, the function itself. A plan's form is the class of the result
and its layout.

Invariant: the result of each function here follows from types and plain arguments alone. Functions
that look at an array's data, or write, are left out. A call that warns gets no recipe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.array_base import Holder, holding, node_of, showing
from lazytensor.core.buffers.cell import Cell, view_of
from lazytensor.core.ir.memo import Memory, keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import NodeBase, nodes_made, record
from lazytensor.core.trace.call_memo import CallPlan, Reader, learned
from lazytensor.frontends.numpy.arrays.array import Scalar, ndarray
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.parts import filled, small_by_now
from lazytensor.frontends.numpy.host.small import GROWING, NOTHING, at_once, lazy_if_large
from lazytensor.frontends.numpy.ufuncs import plans
from lazytensor.frontends.numpy.ufuncs.promotion import given_warnings

Function = Callable[..., Any]
Key = Any

RECIPES_BOUND: Final = 1000
"""Most recipes kept for one function."""
_PLAIN_KEYS: Final[frozenset[type]] = frozenset(
    [
        *(int, bool, str, type(None), type, type(np._NoValue)),
        *(type(np.dtype(code)) for code in np.typecodes["All"] if code not in "SUVMm"),
    ]
)
"""Classes of arguments that are immutable and compare by value among themselves."""


WITH_RECIPES: Final = frozenset(
    [
        "all", "amax", "amin", "any", "append", "argmax", "argmin", "argsort", "around", "astype",
        "average", "clip", "column_stack", "concatenate", "convolve", "copy", "correlate",
        "count_nonzero", "cross", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff",
        "dot", "dstack", "einsum", "fft", "fft2", "fftn", "hstack", "ifft", "ifft2",
        "ifftn", "inner", "irfft", "irfft2", "irfftn", "isclose", "isneginf", "isposinf",
        "kron", "max", "mean", "median", "min", "nanargmax", "nanargmin", "nancumprod",
        "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod",
        "nanquantile", "nansum", "norm", "outer", "percentile",
        "prod", "ptp", "quantile", "repeat", "rfft", "rfft2", "rfftn", "roll", "round", "sort",
        "stack", "std", "sum", "take_along_axis", "tensordot", "tile", "trace", "trapezoid",
        "tril", "triu", "var", "vdot", "vstack", "where",
    ]
)  # fmt: skip
"""Functions and methods that may have recipes."""

VIEWED: Final = frozenset(
    [
        "diagonal", "expand_dims", "mT", "matrix_transpose", "moveaxis", "permute_dims", "ravel",
        "reshape", "squeeze", "swapaxes", "T", "transpose",
    ]
)  # fmt: skip
"""Functions, methods and attributes whose views follow from type and plain arguments alone."""


_PLAINLY: Final = Reader(_PLAIN_KEYS)
_WITH_ARRAYS: Final = Reader(_PLAIN_KEYS, ndarray, frozenset([Scalar]), Turned)


def remembered(name: str, slow: Function, real: Function | None = None) -> Function:
    """`slow`, the counterpart of NumPy's `real`, with recipes if `name` may have them."""
    if name in WITH_RECIPES:
        return recorded(slow, real or slow, name in GROWING)
    return viewed(slow) if name in VIEWED else slow


def of_value(name: str) -> Function:
    """The method of this name of a real array, or of a scalar that was a lazy one."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    return call


def remembered_method(method: Function) -> Any:
    """`remembered` for a method."""
    return remembered(method.__name__, method, of_value(method.__name__))


def _by_now(real: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's result for arrays that are small by now; `NOTHING` if they are not."""
    given = small_by_now(args, kwargs)
    if given is not None:
        made = real(*given, **kwargs)
        if not any(made is x for x in given):
            return lazy_if_large(made)
    return kwargs["out"] if "out" in kwargs and filled(real, args, kwargs) else NOTHING


def recorded(slow: Function, real: Function, growing: bool = False) -> Function:
    """`slow` with recipes. Types and plain arguments determine what it records.

    `growing`: two small arrays may make a large one.
    """
    recipes: Recipes = Recipes(slow, real)
    array = np.ndarray

    def call(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is array and at_once(args, kwargs, growing):
            return lazy_if_large(real(*args, **kwargs))
        return recipes.called(args, kwargs)

    call.recipes = recipes  # type: ignore[attr-defined]
    return call


class Recipes:
    """The recipes of one function: `slow` records what has none, NumPy's `real` computes."""

    __slots__ = ("found", "real", "slow")

    def __init__(self, slow: Function, real: Function) -> None:
        self.found: Memory = plans.memo()
        self.slow = slow
        self.real = real

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call that has lazy arguments, or may have."""
        if differing and is_raised() and (made := _by_now(self.real, args, kwargs)) is not NOTHING:
            return made
        nodes: list[Any] = []
        key: Any
        if len(args) == 1 and not kwargs and is_in_rows(args[0]):  # the most frequent call
            node = node_of(args[0])
            nodes.append(node)
            key = node.type
        else:
            key = _WITH_ARRAYS.key(args, kwargs, nodes)
            if key is None:
                return self.slow(*args, **kwargs)
        recipe: CallPlan | None = self.found.get(key)
        if recipe is None:
            return _learn(self.found, key, nodes, self.slow, args, kwargs)
        signature = recipe.signature
        found = recipe.replay(nodes)[-1] if signature is None else record(signature, tuple(nodes))
        result = holding(recipe.form[0], found)
        result._shadow = recipe.form[1]
        return result


def is_in_rows(x: Any) -> bool:
    """Whether `x` is a lazy array whose layout is that of its elements in rows."""
    if type(x) is not ndarray:
        return False
    array = x
    return type(array._shadow) is not Turned


def viewed(slow: Function) -> Function:
    """`slow`, a function that returns a view, with a memo of its calls.

    The memo keeps the view's steps, type and layout, for arrays in rows.
    """
    sights: dict[Any, Any] = memory()

    def call(*args: Any, **kwargs: Any) -> Any:
        x = args[0] if args else None
        if type(x) is not ndarray or x._shadow is not None or type(x.ref) is not Cell:
            return slow(*args, **kwargs)
        own: Holder = x
        node: NodeBase = node_of(own)
        key: Any = node.type
        if kwargs or len(args) > 1:
            rest = _PLAINLY.key(args[1:], kwargs, [])
            if rest is None:
                return slow(*args, **kwargs)
            key = key, rest
        sight = sights.get(key)
        if sight is None:
            return _look(sights, key, slow, args, kwargs)
        chain, type_, shadow = sight
        ref: Any = own.ref
        view = view_of(ref, chain, type_) if chain else ref
        return showing(ndarray, view, shadow, x if own._base is None else own._base)

    return call


def _learn(
    recipes: Memory,
    key: Key,
    nodes: list[Node],
    slow: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    before, warned = nodes_made(), given_warnings[0]
    result = slow(*args, **kwargs)
    is_plain = nodes and not plans.suspended and given_warnings[0] == warned
    if is_plain and _is_fresh(result):
        recipe = learned((result.ref.node,), nodes, before)
        if recipe is not None and not any(result is x for x in args):
            recipe.form = type(result), result._shadow
            keep(recipes, key, recipe, RECIPES_BOUND)
    return result


def _is_fresh(x: Any) -> bool:
    return type(x) in (ndarray, Scalar) and type(x.ref) is Cell and x._base is None


def _look(
    sights: Memory, key: Key, slow: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    x = args[0]
    result = slow(*args, **kwargs)
    if type(result) is ndarray and result is not x and result.ref.cell is x.ref:
        keep(sights, key, (result.ref.chain, result.ref.type, result._shadow), RECIPES_BOUND)
    return result
