"""Libraries whose C code takes only NumPy's own arrays: they are called again with real ones.

Python code converts by `__array__`, `__array_ufunc__` or `to_numpy`. OpenCV and numba check an
array's class in C; `json` and pandas check a number's. A module of the table is changed when it is
imported, or at once if it has been. The changes are for scripts written for NumPy, which get lazy
arrays from `lazytensor run`; scripts that import this library convert by themselves.

Invariants:
- A library's calls with real arrays take no longer: only refused calls are repeated. (pandas
  refuses too few, see `frames.py`.)
- C code gets the memory of lazy arrays, so they show what it writes. If it returns an array that
  it was given, the caller gets the lazy one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from lazytensor.core.device.module_changes import when_imported
from lazytensor.frontends.numpy.arrays import scalar
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray
from lazytensor.frontends.numpy.host.fallback import lazies
from lazytensor.frontends.numpy.interop import frames, sharing
from lazytensor.frontends.numpy.interop.changes import Function, asked_again, put, put_back
from lazytensor.frontends.numpy.interop.sharing import fetched


def watch() -> Callable[[], None]:
    """Change the table's modules: those imported at once, the others when they are imported.

    Returns: a function that undoes all changes.
    """
    stop = when_imported(CHANGES)

    def undo() -> None:
        stop()
        put_back()

    return undo


def _asked(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given: dict[int, tuple[Any, Lazy]] = {}
    real_kwargs = {name: _real(x, given) for name, x in kwargs.items()}
    return _own(function(*[_real(x, given) for x in args], **real_kwargs), given)


def _real(x: Any, given: dict[int, tuple[Any, Lazy]]) -> Any:
    """`x` with its lazy arrays replaced by real ones. `given` gets the pairs, by the id of the
    real one."""
    kind = type(x)
    if kind is list or kind is tuple:
        return kind(_real(item, given) for item in x)
    if not issubclass(kind, Lazy):
        return x
    if kind is Scalar:
        return scalar.value(x)
    found = sharing.memory(x)
    found = fetched(x) if found is None else found
    given[id(found)] = found, x
    return found


def _own(made: Any, given: dict[int, tuple[Any, Lazy]]) -> Any:
    """A result in which the real arrays of `given` are replaced by the lazy ones again."""
    if type(made) is tuple:
        return tuple(_own(x, given) for x in made)
    return given[id(made)][1] if id(made) in given else made


def _functions(module: ModuleType) -> None:
    for name, value in list(vars(module).items()):
        if type(value) is BuiltinFunctionType:
            put(module, name, asked_again(value, _asked, Exception, lazies))


def _public(module: ModuleType) -> None:
    for name in module.__all__:
        value = getattr(module, name)
        if type(value) is FunctionType:
            put(module, name, asked_again(value, _asked, TypeError, lazies))


def _constraints(module: Any) -> None:
    """scikit-learn: parameters that may be NumPy arrays may be lazy ones."""
    holds = module._InstancesOf.is_satisfied_by

    @wraps(holds)
    def call(self: Any, x: Any) -> bool:
        return bool(holds(self, x)) or (type(x) is ndarray and issubclass(np.ndarray, self.type))

    put(module._InstancesOf, "is_satisfied_by", call)


def _dispatcher(module: ModuleType) -> None:
    """numba: change its lookup of a function for arguments that it has not compiled for."""
    compile_for = module.Dispatcher._compile_for_args

    @wraps(compile_for)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if lazies((args, kwargs)):
            return lambda *args, **kwargs: _asked(self, args, kwargs)
        return compile_for(self, *args, **kwargs)

    put(module.Dispatcher, "_compile_for_args", call)


def _encoder(module: Any) -> None:
    """json: lazy float64 numbers are encoded as NumPy's are, which are floats."""
    iterencode, in_python = module.JSONEncoder.iterencode, module._make_iterencode
    in_c = module.c_make_encoder

    @wraps(iterencode)
    def call(self: Any, o: Any, _one_shot: bool = False) -> Any:
        try:
            return iterencode(self, o, _one_shot)
        except TypeError:  # C code raises at once for a key; Python code is a generator
            known = _with_float_keys(o)
            if known is o:
                raise
        return iterencode(self, known, _one_shot)

    @wraps(in_python)
    def make(
        markers: Any, default: Any, encoder: Any, indent: Any, floatstr: Function, *rest: Any
    ) -> Any:
        def text(x: Any) -> Any:
            return floatstr(scalar.value(x) if type(x) is Scalar else x)

        return in_python(markers, default, encoder, indent, text, *rest)

    def make_in_c(markers: Any, default: Function, *rest: Any) -> Any:
        def known(x: Any) -> Any:
            return scalar.value(x) if _is_lazy_float(x) else default(x)

        return in_c(markers, known, *rest)

    put(module.JSONEncoder, "iterencode", call)
    put(module, "_make_iterencode", make)
    put(module, "c_make_encoder", in_c and make_in_c)


def _is_lazy_float(x: Any) -> bool:
    return type(x) is Scalar and x.dtype == np.float64


def _with_float_keys(o: Any) -> Any:
    """`o` with NumPy's float64 for lazy ones in its keys; `o` itself if there are none."""
    if isinstance(o, dict):
        found: Any = {
            scalar.value(key) if _is_lazy_float(key) else key: _with_float_keys(x)
            for key, x in o.items()
        }
        pairs = zip((*o, *o.values()), (*found, *found.values()), strict=False)
        return found if any(x is not y for x, y in pairs) else o
    if isinstance(o, list | tuple):
        items = [_with_float_keys(x) for x in o]
        return items if any(x is not y for x, y in zip(o, items, strict=True)) else o
    return o


CHANGES: Final[dict[str, Callable[[ModuleType], None]]] = {
    "cv2": _functions,
    "json.encoder": _encoder,
    "numba.core.dispatcher": _dispatcher,
    "pandas": frames.change,
    "scipy.sparse.linalg": _public,
    "sklearn.utils._param_validation": _constraints,
}
"""By module: the function that changes it."""
