"""pandas: arguments that its C code inspects have to be NumPy's own.

A call that pandas refuses is repeated with real arrays and numbers. Arguments that would silently
make columns of objects are made real before the call.
"""

from __future__ import annotations

from functools import wraps
from itertools import chain, islice
from types import FunctionType
from typing import Any, Final

import numpy as np

from lazytensor.frontends.numpy.arrays import scalar
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar
from lazytensor.frontends.numpy.host.fallback import lazies
from lazytensor.frontends.numpy.interop.changes import Function, asked_again, put
from lazytensor.frontends.numpy.interop.sharing import fetched

_BEFORE: Final = {
    "DataFrame": ["__init__", "__setitem__", "insert", "isin"],
    "Series": ["__init__", "__setitem__", "isin"],
    "core.generic.NDFrame": ["clip", "fillna", "mask", "replace", "where"],
    "core.indexing._LocationIndexer": ["__setitem__"],
    "core.indexing._ScalarAccessIndexer": ["__setitem__"],
    "MultiIndex": ["from_product", "from_arrays", "from_tuples"],
}
_AGAIN: Final = {
    "": ["unique", "factorize", "date_range"],
    "DataFrame": [
        *("__getitem__", "_arith_method", "_cmp_method", "groupby", "set_index", "head", "tail"),
        *("nlargest", "nsmallest"),
    ],
    "Series": ["__getitem__", "groupby", "head", "tail", "searchsorted", "nlargest", "nsmallest"],
    "core.indexing._LocationIndexer": ["__getitem__"],
    "core.indexing._ScalarAccessIndexer": ["__getitem__"],
}
_CALLING: Final = {
    "DataFrame": ["apply", "agg", "map"],
    "Series": ["apply", "agg", "map"],
    "core.groupby.groupby.GroupBy": ["apply"],
    "core.groupby.DataFrameGroupBy": ["agg", "aggregate"],
    "core.groupby.SeriesGroupBy": ["agg", "aggregate"],
}
"""By class: methods whose lazy arguments are made real before the call (`_BEFORE`), methods called
again with real ones if they refuse lazy ones (`_AGAIN`), and methods whose results are made real,
as they hold results of a user's function (`_CALLING`)."""
_REFUSALS: Final = (TypeError, ValueError, KeyError, IndexError)


def change(module: Any) -> None:
    """Change pandas."""
    for names, wrapped in ((_BEFORE, _before), (_AGAIN, _again), (_CALLING, _calling)):
        for home, methods in names.items():
            owner = _found(module, home)
            for name in methods:
                method = vars(owner).get(name) if owner is not None else None
                if isinstance(method, classmethod):
                    put(owner, name, classmethod(wrapped(method.__func__)))
                elif isinstance(method, FunctionType):
                    put(owner, name, wrapped(method))


def _found(module: Any, path: str) -> Any:
    """The class at the end of a path; None if this release does not have it there."""
    for name in path.split(".") if path else ():
        module = getattr(module, name, None)
    return module


def _before(function: Function) -> Function:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(_holds_lazy, args)) or (kwargs and _holds_lazy(kwargs)):
            return _asked(function, args, kwargs)
        return function(*args, **kwargs)

    return call


def _again(function: Function) -> Function:
    return asked_again(function, _asked, _REFUSALS, _refused)


def _asked(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*map(_real, args), **_real(kwargs))


def _refused(given: tuple[tuple[Any, ...], dict[str, Any]]) -> bool:
    """Whether anything in the arguments is lazy, ends of slices included."""
    return bool(lazies(given)) or _has_lazy_ends(given[0])


def _calling(function: Function) -> Function:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        values = getattr(made, "values", None)
        if isinstance(values, np.ndarray) and values.dtype == object and _in_objects(values):
            return made.map(_real)
        return made

    return call


def _in_objects(values: np.ndarray) -> bool:
    return Scalar in set(map(type, values.ravel().tolist()))


_NESTED: Final = frozenset([list, tuple, dict])
_DEPTH: Final = 6
_LONG: Final = 4096


def _holds_lazy(x: Any) -> bool:
    """Whether anything in `x` is lazy, among the first `_LONG` items at each depth."""
    level = [x]
    for _ in range(_DEPTH):
        kinds = set(map(type, level))
        if any(issubclass(kind, Lazy) for kind in kinds):
            return True
        if not kinds & _NESTED:
            return False
        inner = (y.values() if type(y) is dict else y for y in level if type(y) in _NESTED)
        level = list(islice(chain.from_iterable(inner), _LONG))
    return False


def _has_lazy_ends(args: tuple[Any, ...]) -> bool:
    keys = (y for x in args for y in (x if type(x) is tuple else (x,)))
    return any(type(x) is slice and Scalar in (type(x.start), type(x.stop)) for x in keys)


def _real(x: Any) -> Any:
    """`x` with everything lazy in it replaced by NumPy's own."""
    kind = type(x)
    if issubclass(kind, Lazy):
        return scalar.value(x) if kind is Scalar else fetched(x)
    if kind is list or kind is tuple:
        return kind(map(_real, x))
    if kind is slice:
        return slice(_real(x.start), _real(x.stop), _real(x.step))
    return {key: _real(y) for key, y in x.items()} if kind is dict else x
