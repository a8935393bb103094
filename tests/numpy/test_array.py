"""Arrays behave as NumPy's: attributes, operators, in-place operators, views, copies, methods."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_agree


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "disk", False)
    return


BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    divmod,
    operator.pow,
    operator.matmul,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]
IN_PLACE = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
    operator.imatmul,
    operator.iand,
    operator.ior,
    operator.ixor,
    operator.ilshift,
    operator.irshift,
]
UNARY = [operator.neg, operator.pos, operator.abs, operator.invert]

OPERANDS = {
    "floats": lambda np: np.array([[1.5, -2.0], [0.25, 4.0]]),
    "narrow floats": lambda np: np.array([3.0, -1.5], dtype=np.float32),
    "integers": lambda np: np.array([[7, -3], [2, 5]]),
    "unsigned": lambda np: np.array([1, 2], dtype=np.uint8),
    "flags": lambda np: np.array([True, False]),
    "complex": lambda np: np.array([1 + 2j, -0.5j]),
    "no axes": lambda np: np.array(3.0),
    "empty": lambda np: np.zeros((0, 2)),
    "float": lambda np: 2.5,
    "int": lambda np: 3,
    "bool": lambda np: True,
    "complex number": lambda np: 1j,
    "numpy scalar": lambda np: np.float32(1.5),
    "numpy integer": lambda np: np.int8(2),
    "list": lambda np: [1.0, 2.0],
    "nested list": lambda np: [[1, 2], [3, 4]],
    "wrong shape": lambda np: np.ones(3),
    "reduction": lambda np: np.array([1.0, 2.0]).sum(),
    "element": lambda np: np.array([4, 5])[0],
    "strings": lambda np: np.array(["a", "b"]),
    "objects": lambda np: np.array([1, 2.5], dtype=object),
    "text": lambda np: "ab",
    "none": lambda np: None,
}
LEFT = ["floats", "narrow floats", "integers", "unsigned", "flags", "complex", "reduction"]


@pytest.mark.parametrize("right", OPERANDS)
@pytest.mark.parametrize("left", LEFT)
def test_operators(left: str, right: str) -> None:
    if (left, right) == ("reduction", "complex number"):
        pytest.skip("NumPy's double leaves this to Python, whose complex numbers are no scalars")
    for function in BINARY:
        assert_agree(lambda np, f=function: f(OPERANDS[left](np), OPERANDS[right](np)))
        assert_agree(lambda np, f=function: f(OPERANDS[right](np), OPERANDS[left](np)))


@pytest.mark.parametrize("right", OPERANDS)
@pytest.mark.parametrize("left", LEFT[:-1])
def test_in_place_operators(left: str, right: str) -> None:
    def program(np: Any, function: Any) -> Any:
        x = OPERANDS[left](np)
        view = x[..., ::-1]
        try:
            x_after = function(x, OPERANDS[right](np))
        except Exception as error:  # noqa: BLE001 (the class is compared, and what is left of x)
            return isinstance(error, TypeError), isinstance(error, ValueError), x, view
        return x_after is x, x, view

    for function in IN_PLACE:
        if function is operator.ipow and right == "integers":
            continue  # one is negative: NumPy raises after it has written, we before
        assert_agree(lambda np, f=function: program(np, f))


@pytest.mark.parametrize("name", OPERANDS)
def test_unary_operators(name: str) -> None:
    for function in UNARY:
        assert_agree(lambda np, f=function: f(OPERANDS[name](np)))


def test_powers_by_small_numbers() -> None:
    for exponent in (-2, -1, 0, 1, 2, 3, 4, 5, 0.5, -0.5, 2.0, 0.0, 1.5):
        for values in ([1.5, 2.0, 0.25], [1, 2, 3], [1 + 1j, 2j, -1.0], [True, False]):
            assert_agree(lambda np, v=values, e=exponent: np.array(v) ** e)
            assert_agree(lambda np, v=values, e=exponent: np.power(np.array(v), e))


def grid(np: Any) -> Any:
    return np.arange(24.0).reshape(2, 3, 4) * 1.0


ATTRIBUTES = {
    name: (lambda np, name=name: getattr(grid(np), name))
    for name in [
        "shape",
        "dtype",
        "ndim",
        "size",
        "itemsize",
        "nbytes",
        "T",
        "mT",
        "strides",
        "real",
        "imag",
    ]
} | {
    "strides of a view": lambda np: grid(np)[:, ::-2, 1:].strides,
    "strides of columns": lambda np: grid(np).T.strides,
    "flags": lambda np: repr(grid(np).flags),
    "flags of a view": lambda np: repr(grid(np)[:, 1].T.flags),
    "flag by name": lambda np: grid(np).flags["C_CONTIGUOUS"],
    "flag by letter": lambda np: grid(np)[0].flags["O"],
    "base of a view of a view": lambda np: (lambda x: x[0][1:].base is x)(grid(np)),
    "base of an owner": lambda np: (grid(np) + 1).base,
    "truth of one": lambda np: bool(np.array([2.0])),
    "truth of many": lambda np: bool(np.ones(2)),
    "truth of none": lambda np: bool(np.ones(0)),
    "len": lambda np: len(grid(np)),
    "len without axes": lambda np: len(np.array(1.0)),
    "iteration": lambda np: [row.sum() for row in grid(np)],
    "iteration over elements": lambda np: list(np.arange(12) * 2),
    "unpacking": lambda np: (lambda a, b: [a, b])(*grid(np)),
    "iteration without axes": lambda np: list(np.array(1.0)),
    "in": lambda np: (3.0 in grid(np), 99 in grid(np)),
    "int of one": lambda np: int(np.array(3.7)),
    "float of many": lambda np: float(np.ones(2)),
    "index of a float": lambda np: [1, 2][np.array(1.0)],
    "index of an integer": lambda np: [1, 2][np.array(1)],
    "complex of one": lambda np: complex(np.array(2.0)),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name: str) -> None:
    assert_agree(ATTRIBUTES[name], text=True)


METHODS = {
    "hash": lambda x, np: hash(x),
    "astype": lambda x, np: x.astype(np.int32),
    "astype of the same": lambda x, np: x.astype(x.dtype) is x,
    "astype without a copy": lambda x, np: x.astype(x.dtype, copy=False) is x,
    "astype of a masked read": lambda x, np: [
        (y := x[x > 1]).astype(x.dtype, order=order, copy=False) is y for order in "KACF"
    ],
    "astype unsafely refused": lambda x, np: x.astype(np.int32, casting="safe"),
    "astype to objects": lambda x, np: x.astype(object),
    "astype to text": lambda x, np: x.astype(str),
    "astype complex": lambda x, np: x.astype(np.complex64),
    "tolist": lambda x, np: x.tolist(),
    "item": lambda x, np: x.item(5),
    "item by axes": lambda x, np: x.item(1, 2, 3),
    "item of many": lambda x, np: x.item(),
    "tobytes": lambda x, np: x.tobytes(),
    "copy": lambda x, np: (x.copy(), x.copy().base is None),
    "copy in columns": lambda x, np: (x.copy("F").strides, x.T.copy("K").strides),
    "fill": lambda x, np: (x.fill(3), x),
    "fill a view": lambda x, np: (x[:, 1].fill(3), x),
    "astype without a copy, in each order": lambda x, np: [
        x[::-1].T.astype(x.dtype, order=order, copy=False).flags.owndata for order in "KACF"
    ],
    "fill with a list": lambda x, np: x.fill([3]),
    "fill a number with a list": lambda x, np: np.array(0, np.uint8).fill([3]),
    "fill a flag with a list": lambda x, np: (lambda y: (y.fill([0, 0]), y))(np.array(False)),
    "fill a number with an array": lambda x, np: np.array(0, np.uint8).fill(np.array([3])),
    "sort": lambda x, np: (x[:, ::-1].sort(1), x),
    "sort on an axis": lambda x, np: ((-x).sort(axis=0), x),
    "sort on no axis": lambda x, np: x.sort(axis=5),
    "partition": lambda x, np: (x.partition(2, axis=1), x[:, 2]),
    "resize": lambda x, np: (x.resize((3, 9)), x),
    "resize a view": lambda x, np: x[0].resize(3),
    "view as integers": lambda x, np: x.view(np.int64),
    "view as halves": lambda x, np: x.view(np.float32),
    "view as complex": lambda x, np: x.view(np.complex128),
    "view of nothing new": lambda x, np: x.view().base is x,
    "view writes through": lambda x, np: (x.view(np.int64).fill(0), x),
    "view that does not fit": lambda x, np: x[..., :3].view(np.complex128),
    "sum": lambda x, np: x.sum(),
    "sum on axes": lambda x, np: x.sum(axis=(0, 2), keepdims=True),
    "mean": lambda x, np: x.mean(axis=1),
    "std": lambda x, np: x.std(),
    "max": lambda x, np: x.max(axis=-1),
    "argmax": lambda x, np: x.argmax(axis=1),
    "cumsum": lambda x, np: x.cumsum(axis=1),
    "round": lambda x, np: (x / 7).round(2),
    "clip": lambda x, np: x.clip(2, 9),
    "dot": lambda x, np: x.dot(x[0].T),
    "take": lambda x, np: x.take([0, 2], axis=1),
    "repeat": lambda x, np: x.repeat(2, axis=0),
    "nonzero": lambda x, np: (x % 5 == 0).nonzero(),
    "trace": lambda x, np: x[0].trace(),
    "any": lambda x, np: (x > 22).any(),
    "all": lambda x, np: (x > 22).all(axis=0),
    "conj": lambda x, np: (x * 1j).conj(),
    "swapaxes": lambda x, np: x.swapaxes(0, 2),
    "squeeze": lambda x, np: x[:1].squeeze(),
    "squeeze a long axis": lambda x, np: x.squeeze(0),
    "diagonal": lambda x, np: x.diagonal(1, 1, 2),
    "write to a diagonal": lambda x, np: x.diagonal().fill(0),
    "flatten": lambda x, np: (x.flatten().fill(0), x),
    "ravel": lambda x, np: (x.ravel().fill(0), x),
    "ravel of columns": lambda x, np: (x.T.ravel().fill(0), x),
    "reshape": lambda x, np: x.reshape(4, -1),
    "reshape wrongly": lambda x, np: x.reshape(5, -1),
    "reshape in columns": lambda x, np: x.reshape((4, 6), order="F"),
    "transpose": lambda x, np: x.transpose(2, 0, 1),
    "transpose wrongly": lambda x, np: x.transpose(0, 0, 1),
    "searchsorted": lambda x, np: x.ravel().searchsorted([3.5, 100]),
    "argsort": lambda x, np: (-x).argsort(axis=1),
    "prod": lambda x, np: (x + 1).prod(axis=0),
    "var": lambda x, np: x.var(axis=2, ddof=1),
    "compress": lambda x, np: x.compress([True, False], axis=0),
    "put": lambda x, np: (x.put([0, 5], [-1, -2]), x),
    "choose": lambda x, np: np.array([0, 1, 0]).choose([x[0, :, 0], x[1, :, 0]]),
    "byteswap": lambda x, np: x.byteswap(),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    assert_agree(lambda np: METHODS[name](grid(np), np))


SHAPES = {
    "set": lambda x, np: (setattr(x, "shape", (4, 6)), x),
    "set with an unknown": lambda x, np: (setattr(x, "shape", (-1, 2)), x.shape, x.base),
    "set of a view": lambda x, np: (lambda v: (setattr(v, "shape", (-1,)), v.fill(0), x))(x[1]),
    "set of columns": lambda x, np: setattr(x.T, "shape", (24,)),
    "set wrongly": lambda x, np: setattr(x, "shape", (5, 5)),
    "made": lambda x, np: np.ndarray((2, 3), dtype=np.int32).shape,
    "made of a buffer": lambda x, np: np.ndarray((2,), np.uint8, b"\x01\x02\x03", 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy 2.5 wants `reshape`
        assert_agree(lambda np: SHAPES[name](grid(np), np), text=True)


def test_losing_imaginary_parts_warns() -> None:
    z, x = lnp.ones(2) * 1j, lnp.zeros(2)
    for act in (lambda: z.astype(float), lambda: x.__setitem__(0, z[0]), lambda: z.real.fill(z[0])):
        with pytest.warns(numpy.exceptions.ComplexWarning, match="discards the imaginary part"):
            act()


PARTS = {
    "real writes through": lambda z, np: (z.real.fill(7), z),
    "imag writes through": lambda z, np: (z.imag.__setitem__(0, 7), z),
    "real is assigned": lambda z, np: (setattr(z, "real", [5.0, 6.0]), z),
    "imag is assigned": lambda z, np: (setattr(z, "imag", 1), z),
    "imag of reals": lambda z, np: z.real.imag,
    "imag of reals is read-only": lambda z, np: z.real.imag.fill(1),
    "real of reals": lambda z, np: (lambda x: x.real is x)(np.ones(2)),
    "strides": lambda z, np: (z.real.strides, z.imag.strides),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_complex_arrays(name: str) -> None:
    assert_agree(lambda np: PARTS[name](np.array([1 + 2j, 3 - 4j]), np))


FLAT = {
    "read": lambda x, np: (x.flat[3], x.flat[1:9:2], x.flat[[0, 5]], len(x.flat)),
    "write": lambda x, np: (x.flat.__setitem__(3, -1.0), x),
    "write a slice": lambda x, np: (x.flat.__setitem__(slice(2, 9), [1.0, 2.0]), x),
    "write to columns": lambda x, np: (x.T.flat.__setitem__(slice(2, 4), [-1.0, -2.0]), x),
    "assign": lambda x, np: (setattr(x, "flat", [1, 2, 3]), x),
    "iterate": lambda x, np: [v + 1 for v in x[0].flat],
    "coordinates": lambda x, np: (lambda f: (next(f), next(f), f.index, f.coords))(x.flat),
    "a slice is a copy": lambda x, np: (x.flat[:5].fill(0), x),
    "compare": lambda x, np: x.flat == 3,
    "out of range": lambda x, np: x.flat[99],
    "as an array": lambda x, np: np.array(x.flat),
}


@pytest.mark.parametrize("name", FLAT)
def test_flat(name: str) -> None:
    assert_agree(lambda np: FLAT[name](grid(np), np))


READ_ONLY = {
    "assign": lambda x: x.__setitem__(0, 1),
    "add": lambda x: x.__iadd__(1),
    "fill": lambda x: x.fill(1),
    "sort": lambda x: x.sort(),
    "view": lambda x: x[1:].__setitem__(0, 1),
    "mask": lambda x: x.__setitem__(x > 1, 0),
    "allow again": lambda x: (x.setflags(write=True), x.fill(3)),
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_read_only_arrays(name: str) -> None:
    def program(np: Any) -> Any:
        x = np.arange(3.0)
        x.flags.writeable = False
        READ_ONLY[name](x)
        return x

    assert_agree(program)


def test_a_view_of_a_read_only_array_stays_read_only() -> None:
    def program(np: Any) -> Any:
        x = np.arange(3.0)
        x.setflags(write=False)
        view = x[1:]
        view.setflags(write=True)

    assert_agree(program, text=True)


def test_memory_is_shared_as_numpy_shares_it() -> None:
    def program(np: Any) -> Any:
        x = np.zeros((4, 6))
        views = [x, x[0], x[1], x[:, ::2], x[:, 1::2], x.T, x.reshape(-1), x + 0, x[1:3, 1:]]
        return [[np.shares_memory(a, b), np.may_share_memory(a, b)] for a in views for b in views]

    assert_agree(program)


def test_unsupported_dtypes_stay_real_arrays() -> None:
    def program(np: Any) -> Any:
        made = [
            np.array(["a", "bc"]),
            np.array([1, None], dtype=object),
            np.array(["2020-01-01"], dtype="datetime64[D]"),
            np.zeros(2, dtype=[("x", float), ("y", int)]),
            np.array([1.0], dtype=">f8"),
            np.zeros(2, dtype=np.longdouble),
        ]
        return [isinstance(x, np.ndarray) for x in made], [str(x) for x in made]

    assert_agree(program)
