"""Lazy arrays among real ones, in containers, in NumPy's own functions, printed and pickled."""

from __future__ import annotations

import copy
import io
import pickle
from collections import UserList, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray
from tests.numpy.agreement import assert_agree


def matrix(np: Any) -> Any:
    return np.arange(6.0).reshape(2, 3) * 1.0


LIKE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["array", "asarray", "asanyarray", "ascontiguousarray"], ([[1.5, 2]],)),
    **dict.fromkeys(["asfortranarray", "require"], ([[1.5, 2]],)),
    **dict.fromkeys(["zeros", "ones", "arange", "eye", "identity", "tri"], (3,)),
    "full": (3, 1.5),
    "frombuffer": (b"12345678",),
    "fromiter": ([1, 2], int),
    "fromstring": ("1 2", float, -1, " "),
    "fromfunction": (lambda i: i * 2, (3,)),
    "loadtxt": (["1 2"],),
    "genfromtxt": (["1 2"],),
}
"""All functions of NumPy's that take `like`, but `empty` and `fromfile`."""

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "real array on the left": lambda x, np: numpy.ones(3) + x,
    "real array on the right": lambda x, np: x - numpy.ones(3),
    "real array in place": lambda x, np: (lambda r: (r.__iadd__(x), r))(numpy.ones((2, 3))),
    "real array of objects": lambda x, np: numpy.array([1, 2, 3], dtype=object) * x,
    "real scalar on the left": lambda x, np: numpy.float64(2) * x,
    "real integer on the left": lambda x, np: numpy.int64(2) - x,
    "list on the left": lambda x, np: [1, 2, 3] + x,  # noqa: RUF005 (no concatenation is meant)
    "real matmul": lambda x, np: numpy.ones((3, 2)) @ x,
    "compared with real": lambda x, np: numpy.ones(3) < x,
    "real ufunc": lambda x, np: numpy.sin(x),
    "real ufunc with out": lambda x, np: numpy.add(x, 1, out=numpy.zeros((2, 3))),
    "real reduce": lambda x, np: numpy.add.reduce(x, axis=1),
    "real accumulate": lambda x, np: numpy.multiply.accumulate(x),
    "real outer": lambda x, np: numpy.multiply.outer(x, [1, 2]),
    "real at": lambda x, np: (numpy.add.at(x, [0, 0], 1), x),
    "real function": lambda x, np: numpy.sum(x, axis=0),
    "real concatenate": lambda x, np: numpy.concatenate([x, numpy.ones((1, 3))]),
    "real where": lambda x, np: numpy.where(x > 2, x, 0),
    "real linalg": lambda x, np: numpy.linalg.norm(x),
    "real fft": lambda x, np: numpy.fft.fft(x),
    "indexing a real array": lambda x, np: numpy.arange(10)[x.astype(int)],
    "masking a real array": lambda x, np: numpy.arange(6.0).reshape(2, 3)[x > 2],
    "writing to a real array": lambda x, np: (lambda r: (r.__setitem__(0, x[1]), r))(
        numpy.zeros((2, 3))
    ),
    **{
        f"{name} like it": lambda x, np, name=name, args=args: getattr(numpy, name)(*args, like=x)
        for name, args in LIKE.items()
    },
    "array of rows": lambda x, np: numpy.array([x[0], x[1]]),
    "array of scalars": lambda x, np: np.array([x[0, 1], x[1, 2], 7]),
    "copy": lambda x, np: (lambda c: (x.fill(0), c))(copy.copy(x)),
    "deep copy": lambda x, np: (lambda c: (x.fill(0), c))(copy.deepcopy([x])[0]),
    "pickle": lambda x, np: pickle.loads(pickle.dumps(x)),
    "pickle of columns": lambda x, np: pickle.loads(pickle.dumps(x.T)).strides,
    "pickle of one row for all": lambda x, np: (
        pickle.loads(pickle.dumps(np.broadcast_to(x[0], (4, 3)))).strides
    ),
    "save one row for all": lambda x, np: (
        lambda f: (np.save(f, np.broadcast_to(x[0], (4, 3))), f.getvalue())
    )(io.BytesIO()),
    "sum of python": lambda x, np: sum(x),
    "max of python": lambda x, np: max(x[0]),
    "sorted": lambda x, np: sorted(-x[0]),
    "zip": lambda x, np: [a * b for a, b in zip(x[0], x[1], strict=True)],
    "enumerate": lambda x, np: [i * row for i, row in enumerate(x)],
    "list": lambda x, np: list(x),
    "reversed": lambda x, np: list(reversed(x[0])),
    "in": lambda x, np: (3 in x, [1, 2, 3] in x.tolist()),
    "unpack": lambda x, np: [*x[0]],
    "set of scalars": lambda x, np: {*(x[0] > 1)} == {True, False},
    "dict of scalars": lambda x, np: {value: value + 1 for value in x[0]}[2.0],
    "range": lambda x, np: list(range(x[0, 2].astype(int))),
    "slice": lambda x, np: x[:, : x[0, 2].astype(int)],
    "bytes": lambda x, np: bytes(memoryview(numpy.asarray(x))),
    "save": lambda x, np: (lambda f: (numpy.save(f, x), f.getvalue()))(io.BytesIO()),
    "dlpack": lambda x, np: numpy.from_dlpack(x),
    "as an array": lambda x, np: numpy.asarray(x, dtype=int),
    "as an array without a copy": lambda x, np: numpy.array(x, copy=None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert_agree(lambda np: PROGRAMS[name](matrix(np), np))


class Rows:
    """What NumPy takes for a nested list: it has a length and items."""

    def __init__(self, *rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Any:
        return self.rows[i]


class Pair(NamedTuple):
    """One with names."""

    first: Any
    second: Any


SEQUENCES: dict[str, Callable[..., Any]] = {
    "deque": lambda *rows: deque(rows),
    "named tuple": Pair,
    "a user's list": lambda *rows: UserList(rows),
    "a user's own": Rows,
    "nested": lambda *rows: [deque(rows), Pair(*rows)],
}
JOINING = ["stack", "concatenate", "vstack", "hstack", "dstack", "column_stack", "block"]
TAKING = [*JOINING, "lexsort", "array", "sum", "sin"]


@pytest.mark.parametrize("function", TAKING)
@pytest.mark.parametrize("name", SEQUENCES)
def test_other_sequences_than_lists(name: str, function: str) -> None:
    def program(np: Any) -> Any:
        x = matrix(np)
        return getattr(np, function)(SEQUENCES[name](x[0], x[1] * 2))

    assert_agree(program)


@pytest.mark.parametrize("function", JOINING[:4])
def test_what_is_no_sequence_is_refused(function: str) -> None:
    assert_agree(lambda np: getattr(np, function)({0: matrix(np)}.values()), text=True)


LAZY = [
    "real array on the left",
    "real scalar on the left",
    "real integer on the left",
    "real ufunc",
    "real reduce",
    "real outer",
    "real function",
    "real concatenate",
    "real where",
    "enumerate",
    "array of scalars",
]


@pytest.mark.parametrize("name", LAZY)
def test_numpys_own_functions_stay_lazy(name: str) -> None:
    x = matrix(lnp)
    before = lazytensor.metrics.snapshot()
    made = PROGRAMS[name](x, lnp)
    after = lazytensor.metrics.snapshot()
    assert isinstance(made[0] if isinstance(made, list) else made, Lazy)
    assert (after["cuts"], after["fallbacks"]) == (before["cuts"], before["fallbacks"])


PRINTED: dict[str, Callable[[Any], Any]] = {
    "matrix": matrix,
    "integers": lambda np: np.arange(5),
    "flags": lambda np: np.arange(3) > 1,
    "complex": lambda np: np.array([1 + 2j, -0.5j]),
    "narrow": lambda np: np.ones(2, np.float32) / 3,
    "bytes": lambda np: np.ones(2, np.uint8),
    "empty": lambda np: np.zeros((0, 3)),
    "no axes": lambda np: np.array(2.5),
    "long": lambda np: np.arange(2000.0),
    "special": lambda np: np.array([numpy.nan, numpy.inf, -0.0, 1e-300]),
    "scalar": lambda np: matrix(np).sum(),
    "half": lambda np: np.ones(2, np.float16),
}


@pytest.mark.parametrize("name", PRINTED)
def test_printing(name: str) -> None:
    for show in (repr, str, "{}".format, lambda x: f"{x!r:>30}"):
        assert_agree(lambda np, s=show: s(PRINTED[name](np)))


def test_printing_options_are_numpys() -> None:
    with numpy.printoptions(precision=2, suppress=True):
        assert_agree(lambda np: repr(np.array([1 / 3, 1e-9])))


def test_isinstance() -> None:
    assert isinstance(matrix(lnp), lnp.ndarray)
    assert isinstance(numpy.array(["a"]), lnp.ndarray)
    assert not isinstance(matrix(lnp).sum(), lnp.ndarray)
    assert not isinstance([1.0], lnp.ndarray)
    assert issubclass(ndarray, lnp.ndarray)
    assert (matrix(lnp)[matrix(lnp) > 2] * 2).__class__ is lnp.ndarray


def test_array_gives_a_copy_of_ones_own() -> None:
    x = lnp.arange(3.0)
    real = numpy.asarray(x)
    real[0] = 7
    assert float(x[0]) == 0
    x[1] = 9
    assert real[1] == 1


def test_real_data_are_copied_on_the_way_in() -> None:
    real = numpy.arange(3.0)
    x = lnp.asarray(real)
    y = x + real
    real[:] = 7
    numpy.testing.assert_array_equal(x, [0, 1, 2])
    numpy.testing.assert_array_equal(y, [0, 2, 4])


def test_no_array_interface_is_offered() -> None:
    assert not hasattr(matrix(lnp), "__array_interface__")
    assert not hasattr(matrix(lnp), "__array_struct__")


class Foreign:
    """An array type of somebody else's."""

    __array_ufunc__ = None

    def __radd__(self, other: Any) -> str:
        return "theirs"

    def __rmul__(self, other: Any) -> str:
        return "theirs"


class Overriding:
    """An array type that takes over NumPy's ufuncs."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> str:
        return f"theirs: {ufunc.__name__}"

    def __radd__(self, other: Any) -> str:
        return "theirs: add"


OBJECTS: dict[str, Callable[[Any, Any], Any]] = {
    "rows of two lengths": lambda x, np: np.array([x[0], x[1, :2]], dtype=object),
    "rows and others": lambda x, np: np.array([[x[0], 1], [x[1, 1:], None]], dtype=object),
    "a row and text": lambda x, np: np.asarray((x[0], "a"), dtype=object),
    "scalars": lambda x, np: np.array([x[0, 0], None], dtype=object),
    "rows of one length": lambda x, np: np.array([x[0], x[1]], dtype=object),
    "no rows": lambda x, np: np.array([x[0, 0], [x[1]]], dtype=object),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_arrays_of_objects_hold_the_arrays(name: str) -> None:
    """What is written to an element is written to the array that it is, and to no copy of it."""

    def program(np: Any) -> Any:
        x = matrix(np)
        rows = [x[0].copy(), x[1].copy()]
        made = OBJECTS[name](x, np)
        for item in made.flat:
            if isinstance(item, np.ndarray):
                item[0] = 9.0
        return made.shape, x, rows, list(made.flat)

    assert_agree(program)


def test_other_array_types_come_first() -> None:
    x = matrix(lnp)
    assert x + Foreign() == "theirs"
    assert x[0, 0] * Foreign() == "theirs"
    assert x + Overriding() == "theirs: add"
    assert numpy.multiply(x, Overriding()) == "theirs: multiply"
    with pytest.raises(TypeError):
        x - Foreign()


def test_scalars_stay_scalars() -> None:
    assert type(matrix(lnp).sum() + numpy.float32(1)) is Scalar
    assert type(numpy.float64(2) * matrix(lnp).sum()) is Scalar


def test_functions_like_a_lazy_array_are_ours() -> None:
    x = lnp.ones((300, 300))
    assert isinstance(numpy.zeros((300, 300), like=x), ndarray)
    assert isinstance(numpy.empty((300, 300), like=x), ndarray)
    assert isinstance(numpy.array(numpy.ones((300, 300)), like=x), ndarray)
