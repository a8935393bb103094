"""Classes that take over what is done with arrays, or leave it: the same happens as with NumPy's.

`__array_ufunc__` (None, a method, one that refuses), `__array_priority__`, `__array_wrap__`,
`__array__`, `__array_function__`, by every operator, by ufuncs and their methods, and by functions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_agree

SIZES = {"large": (16_384, 20_000), "all lazy": (0, 24)}
"""Size below which arrays are NumPy's own, and the size of the arrays that a class meets."""

BITWISE = ("and_", "or_", "xor", "lshift", "rshift")
ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
METHODS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "reduce": lambda np, x, other: np.add.reduce(x, out=other),
    "accumulate": lambda np, x, other: np.add.accumulate(x, out=other),
    "reduceat": lambda np, x, other: np.add.reduceat(x, [0, 3], out=other),
    "outer": lambda np, x, other: np.add.outer(x[:2], other),
    "at": lambda np, x, other: np.add.at(x, [0], other),
    "of one": lambda np, x, other: np.sin(other),
    "of two": lambda np, x, other: np.add(x, other),
    "the other way round": lambda np, x, other: np.subtract(other, x),
    "of rows": lambda np, x, other: np.matmul(x, other),
    "of two results": lambda np, x, other: np.divmod(x, other),
    "out": lambda np, x, other: np.add(x, 1, out=other),
    "where": lambda np, x, other: np.add(x, 1, out=np.zeros_like(x), where=other),
    "reduce other": lambda np, x, other: np.add.reduce(other),
}


def reflected(said: str) -> dict[str, Callable[[Any, Any], str]]:
    """Reflected operators of a class, which give their names."""

    def operator_of(name: str) -> Callable[[Any, Any], str]:
        return lambda self, other: f"{said} {name}"

    names = [name.rstrip("_") for name in (*ARITHMETIC, *BITWISE, "divmod")]
    return {f"__r{name}__": operator_of(name) for name in names}


class OptsOut:
    """A class that takes no ufuncs, and has operators."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    locals().update(reflected("opted out"))

    def __eq__(self, other: object) -> Any:
        return "compared"

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__  # type: ignore[assignment]


class OptsOutSilently:
    """A class that takes no ufuncs, and has no operators."""

    __array_ufunc__ = None


class Overrides:
    """A class that computes ufuncs by itself: it says what it was given."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outs = [type(x).__name__ for x in kwargs.get("out", ())]
        return ufunc.__name__, method, [type(x).__name__ for x in inputs], sorted(kwargs), outs


class Refuses:
    """A class that leaves each ufunc to others."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented


class Prior:
    """A class that comes before arrays, as was done before `__array_ufunc__`."""

    __array_priority__ = 1000
    locals().update(reflected("prior"))


class HasArray:
    """A class of which an array can be made."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.full(1, 2.0)


class Lower(HasArray):
    """The same, with operators that come after those of arrays, but not of scalars."""

    __array_priority__ = -1.0
    locals().update(reflected("lower"))


class Wraps(HasArray):
    """A class that makes of a result one of its own."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return "wrapped", numpy.asarray(array)[:3], return_scalar


class WrapsFirst(Wraps):
    """The same, before arrays."""

    __array_priority__ = 10


class Functions:
    """A class that computes NumPy's functions by itself."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function.__name__, sorted(kind.__name__ for kind in types)


CLASSES = (OptsOut, OptsOutSilently, Overrides, Refuses, Prior, HasArray, Lower, Wraps, WrapsFirst)


def shown(made: Any, x: Any) -> Any:
    """What tells what a result is."""
    if isinstance(made, CLASSES):
        return type(made).__name__
    if isinstance(made, tuple):
        return [shown(item, x) for item in made]
    if hasattr(made, "shape"):
        return type(made).__name__, made is x, made[:4] if made.shape else made
    return made


def operand(np: Any, size: int, name: str) -> Any:
    return np.arange(size) if name in BITWISE else np.arange(float(size))


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    small, size = SIZES[request.param]
    monkeypatch.setattr(settings, "small", small)
    return size


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE, *COMPARISONS, "divmod"])
def test_operators(name: str, kind: Any, size: int) -> None:
    do = divmod if name == "divmod" else getattr(operator, name)

    def ahead(np: Any) -> Any:
        x = operand(np, size, name)
        return shown(do(x, kind()), x)

    def behind(np: Any) -> Any:
        x = operand(np, size, name)
        return shown(do(kind(), x), x)

    assert_agree(ahead)
    assert_agree(behind)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE])
def test_in_place_operators(name: str, kind: Any, size: int) -> None:
    do = getattr(operator, f"i{name.rstrip('_')}")

    def program(np: Any) -> Any:
        x = operand(np, size, name)
        return shown(do(x, kind()), x)

    assert_agree(program)


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not Overrides])
@pytest.mark.parametrize("name", ["add", "mul", "iadd", "lt", "eq"])
def test_operators_of_scalars(name: str, kind: Any, size: int) -> None:
    assert_agree(lambda np: shown(getattr(operator, name)(np.arange(float(size)).sum(), kind()), 0))


@pytest.mark.filterwarnings("ignore:'where' used without")
@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", METHODS)
def test_ufuncs(name: str, kind: Any, size: int) -> None:
    def program(np: Any) -> Any:
        x = np.arange(float(size))
        return shown(METHODS[name](np, x, kind()), x)

    assert_agree(program)


WRAPPED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "of one": lambda np, x, own: np.sin(own),
    "of two": lambda np, x, own: np.add(x, own),
    "the other way round": lambda np, x, own: np.subtract(own, x),
    "of itself": lambda np, x, own: np.minimum(own, own),
    "of two results": lambda np, x, own: np.divmod(own, 2),
    "out": lambda np, x, own: np.add(own, 1, out=x),
    "reduce": lambda np, x, own: np.add.reduce(own),
    "accumulate": lambda np, x, own: np.add.accumulate(own),
    "outer": lambda np, x, own: np.subtract.outer(own, [1.0, 2.0]),
}


@pytest.mark.parametrize("priority", [None, -1.0, 10.0])
@pytest.mark.parametrize("name", WRAPPED)
def test_what_wraps_a_lazy_array(name: str, priority: float | None, size: int) -> None:
    """Its `__array__` gives an array of the namespace's."""

    def program(np: Any) -> Any:
        class Own:
            def __init__(self, array: Any) -> None:
                self.array = array

            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                return self.array

            def __array_wrap__(self, array: Any, context: Any = None, scalar: bool = False) -> Any:
                told = context and (context[0] is np_function(context[0]), len(context[1]))
                return "own", numpy.asarray(array)[..., :3] if array.ndim else array, told, scalar

        def np_function(function: Any) -> Any:
            return getattr(np, function.__name__)

        if priority is not None:
            Own.__array_priority__ = priority
        x = np.arange(float(size))
        return shown(WRAPPED[name](np, x, Own(x * 1.0)), x)

    assert_agree(program)


OF_TWO = [
    "dot",
    "vdot",
    "inner",
    "append",
    "array_equal",
    "correlate",
    "kron",
    "outer",
    "allclose",
    "union1d",
]
OF_LISTS = ["concatenate", "stack", "hstack", "vstack", "block", "column_stack"]
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    **{name: lambda np, x, y, name=name: getattr(np, name)(x, y) for name in OF_TWO},
    **{name: lambda np, x, y, name=name: getattr(np, name)([x, y]) for name in OF_LISTS},
    "sum, out": lambda np, x, y: np.sum(x, out=y),
    "mean, where": lambda np, x, y: np.mean(x, where=y),
    "zeros_like": lambda np, x, y: np.zeros_like(y),
    **{
        f"{name}, like": lambda np, x, y, name=name: getattr(np, name)(3, like=y)
        for name in ["zeros", "ones", "empty", "arange", "asarray", "array", "eye"]
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_functions(name: str, size: int) -> None:
    assert_agree(lambda np: CALLS[name](np, np.arange(float(size)), Functions()))


@pytest.mark.parametrize("name", ["zeros", "array"])
@pytest.mark.parametrize("like", [3, [1.0], "a"])
def test_what_has_no_functions_makes_no_arrays(name: str, like: Any, size: int) -> None:
    assert_agree(lambda np: getattr(np, name)(size, like=like))
