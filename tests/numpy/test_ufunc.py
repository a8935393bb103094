"""Ufuncs: every one, on every dtype, with its keywords and methods, as NumPy has them."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.ufuncs.table import ROWS
from tests.numpy.agreement import assert_agree

NAMES = sorted({u.__name__ for n in dir(numpy) if isinstance(u := getattr(numpy, n), numpy.ufunc)})
ELEMENTWISE = [name for name in NAMES if getattr(numpy, name).signature is None]
DTYPES = "?bhilBHILefdFD"
NUMBERS = [0.0, 1.0, 2.0, 3.0, 5.0, 100.0, -1.0, -2.0, -7.0, 0.5, -0.5, 2.25]
SPECIAL = [float("nan"), float("inf"), -float("inf"), -0.0]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "auto")  # tests assign it; this puts it back


def sample(letter: str, shift: int = 0) -> numpy.ndarray:
    """Twelve numbers of a dtype, zeros, negative ones and special ones where there are such."""
    dtype = numpy.dtype(letter)
    whole = [x for x in NUMBERS if x == int(x) and (x >= 0 or dtype.kind == "i")]
    values = NUMBERS + SPECIAL if dtype.kind in "fc" else whole
    values = (values[shift:] + values[:shift]) * 2
    with numpy.errstate(all="ignore"):
        array = numpy.array(values[:12]).astype(dtype)
        return array + 1j * array[::-1] if dtype.kind == "c" else array


def operands(np: Any, letters: str) -> list[Any]:
    return [np.array(sample(letter, 3 * i)) for i, letter in enumerate(letters)]


def dtypes_of(name: str) -> list[str]:
    return ["".join(p) for p in itertools.product(DTYPES, repeat=getattr(numpy, name).nin)]


def undefined(name: str, letters: str) -> bool:
    """Whether NumPy's own result depends on the processor."""
    return name == "reciprocal" and letters in "bhilBHIL"


def test_every_ufunc_has_a_row() -> None:
    assert set(NAMES) == set(ROWS)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_values_and_dtypes(name: str) -> None:
    for letters in dtypes_of(name):
        if not undefined(name, letters):
            assert_agree(lambda np, s=letters: getattr(np, name)(*operands(np, s)), rtol=2e-6)


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if getattr(numpy, n).nin == 2])
def test_numbers_as_operands(name: str) -> None:
    numbers = [2, -1, 2.5, True, 300, 10**10, numpy.float32(1.5), numpy.int8(3), numpy.uint64(7)]
    for letter, number, swapped in itertools.product("?bBlfd", numbers, (False, True)):

        def program(
            np: Any, letter: str = letter, number: Any = number, swap: bool = swapped
        ) -> Any:
            array = np.array(abs(sample(letter)) if letter != "?" else sample(letter))
            return getattr(np, name)(*((number, array) if swap else (array, number)))

        assert_agree(program, rtol=2e-6, text=True)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_nothing_falls_back(name: str) -> None:
    before = lazytensor.metrics.snapshot()
    for letters in dtypes_of(name):
        real = [sample(letter, 3 * i) for i, letter in enumerate(letters)]
        try:
            with numpy.errstate(all="ignore"):
                getattr(numpy, name)(*real)
        except (TypeError, ValueError):
            continue
        getattr(lnp, name)(*[lnp.array(x) for x in real])
    after = lazytensor.metrics.snapshot()
    assert (after["fallbacks"], after["cuts"]) == (before["fallbacks"], before["cuts"])


def test_compiled_rows_agree_with_numpy() -> None:
    """Rows that are more than one op, all in one program of XLA's."""
    settings.tier = "compile"
    names = [
        "modf",
        "spacing",
        "bitwise_count",
        "deg2rad",
        "rad2deg",
        "power",
        "float_power",
        "logical_xor",
        "divmod",
        "rint",
        "sign",
        "less",
        "maximum",
        "fmin",
        "reciprocal",
        "signbit",
        "isfinite",
        "invert",
    ]
    programs: list[tuple[str, str]] = []
    for name in names:
        real = getattr(numpy, name)
        wanted = ["d", "f", "l", "B", "D"] if name not in ("spacing",) else ["d", "f"]
        for letter in wanted:
            try:
                with numpy.errstate(all="ignore"):
                    real(*[abs(sample(letter, 3 * i)) for i in range(real.nin)])
            except TypeError:
                continue
            if not undefined(name, letter):
                programs.append((name, letter))

    def program(np: Any) -> Any:
        made = []
        for name, letter in programs:
            real = getattr(numpy, name)
            arrays = [np.array(abs(sample(letter, 3 * i))) for i in range(real.nin)]
            made.append(getattr(np, name)(*arrays))
        return made

    assert_agree(program, rtol=2e-6)


def xs(np: Any) -> Any:
    return np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


KEYWORDS: dict[str, Callable[[Any], Any]] = {
    "out": lambda np: (lambda o: (np.add(xs(np), 1, out=o) is o, o))(np.zeros((2, 3))),
    "out by position": lambda np: (lambda o: (np.sin(xs(np), o) is o, o))(np.zeros((2, 3))),
    "out tuple": lambda np: (lambda o: (np.add(xs(np), 1, out=(o,)) is o, o))(np.zeros((2, 3))),
    "out of a view": lambda np: (lambda o: (np.add(xs(np), 1, out=o[:, ::2]), o))(np.zeros((2, 6))),
    "out is an operand": lambda np: (lambda x: (np.add(x, x[::-1], out=x), x))(xs(np)),
    "out broadcasts": lambda np: np.add(np.ones(3), 1, out=np.zeros((2, 3))),
    "out is too small": lambda np: np.add(xs(np), 1, out=np.zeros(3)),
    "out is narrower": lambda np: np.add(xs(np), 1, out=np.zeros((2, 3), np.float32)),
    "out is of another kind": lambda np: np.add(xs(np), 1, out=np.zeros((2, 3), int)),
    "out is of another kind, unsafely": lambda np: np.add(
        xs(np), 1.5, out=np.zeros((2, 3), int), casting="unsafe"
    ),
    "out is real": lambda np: (lambda o: (np.add(xs(np), 1, out=o) is o, o))(numpy.zeros((2, 3))),
    "out is no array": lambda np: np.add(xs(np), 1, out=[0]),
    "out is read-only": lambda np: np.add(np.ones(3), 1, out=np.broadcast_to(np.zeros(1), (3,))),
    "two outs": lambda np: (lambda a, b: (np.modf(xs(np) / 2, out=(a, b)), a, b))(
        np.zeros((2, 3)), np.zeros((2, 3))
    ),
    "where": lambda np: np.add(xs(np), 1, where=xs(np) > 2, out=np.zeros((2, 3))),
    "where broadcasts": lambda np: np.add(
        xs(np), 1, where=np.array([True, False, True]), out=np.zeros((2, 3))
    ),
    "where is not a mask": lambda np: np.add(
        xs(np), 1, where=np.ones((2, 3)), out=np.zeros((2, 3))
    ),
    "dtype": lambda np: np.add(xs(np), 1, dtype=np.float32),
    "dtype of flags": lambda np: np.add(np.array([True]), np.array([True]), dtype=int),
    "dtype is wrong": lambda np: np.add(xs(np), 1, dtype=int),
    "casting": lambda np: np.add(xs(np), 1, casting="equiv", dtype=np.float32),
    "casting is wrong": lambda np: np.add(xs(np), 1, casting="never"),
    "signature": lambda np: np.add(xs(np), 1, signature="ff->f", casting="same_kind"),
    "order": lambda np: np.add(xs(np), 1, order="C"),
    "unknown": lambda np: np.add(xs(np), 1, colour="red"),
    "too few": lambda np: np.add(xs(np)),
    "too many": lambda np: np.add(xs(np), 1, None, None),
    "wrong shapes": lambda np: np.add(xs(np), np.ones(2)),
    "nested list": lambda np: np.add([[1, 2], [3, 4]], np.ones(2)),
    "scalars": lambda np: np.sqrt(4.0),
    "list": lambda np: np.sqrt([4.0, 9.0]),
    "text": lambda np: np.add(xs(np), "a"),
    "no loop": lambda np: np.bitwise_and(xs(np), 1),
    "flags are not subtracted": lambda np: np.subtract(np.array([True]), np.array([True])),
    "lazy scalar": lambda np: np.maximum(xs(np).sum(), 3),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords(name: str) -> None:
    assert_agree(KEYWORDS[name], text=True)


METHODS: dict[str, Callable[[Any], Any]] = {
    "outer": lambda np: np.subtract.outer(xs(np), np.arange(2.0)),
    "outer with a number": lambda np: np.multiply.outer(xs(np), 2),
    "outer compared": lambda np: np.less.outer(np.arange(3), np.arange(3)),
    "at": lambda np: (lambda x: (np.add.at(x, [0, 0, 2], 1.5), x))(np.arange(3.0)),
    "at with arrays": lambda np: (lambda x: (np.add.at(x, ([0, 1, 0], [1, 1, 1]), [1, 2, 3.0]), x))(
        xs(np)
    ),
    "multiply at": lambda np: (lambda x: (np.multiply.at(x, [1, 1], 3), x))(np.arange(3)),
    "maximum at": lambda np: (lambda x: (np.maximum.at(x, [1, 1], [5, 4]), x))(np.arange(3)),
    "minimum at": lambda np: (lambda x: (np.minimum.at(x, [1, 2], -1), x))(np.arange(3)),
    "subtract at": lambda np: (lambda x: (np.subtract.at(x, [1, 1], 1), x))(np.arange(3)),
    "subtract bytes at": lambda np: (
        lambda x: (np.subtract.at(x, [0, 0, 2], np.array([200, 100, 3], np.uint8)), x)
    )(np.arange(3, dtype=np.uint8)),
    "subtract zeros at": lambda np: (
        lambda x: (np.subtract.at(x, [0, 1], [0.0, -0.0]), np.signbit(x))
    )(np.array([-0.0, -0.0])),
    "subtract flags at": lambda np: np.subtract.at(np.array([True, True]), [0], True),
    "negative at": lambda np: (lambda x: (np.negative.at(x, [1, 1, 2]), x))(np.arange(3)),
    "add floats to integers at": lambda np: np.add.at(np.arange(3), [0], 1.5),
    "at a mask": lambda np: (lambda x: (np.add.at(x, x > 1, 5), x))(np.arange(4)),
    "at out of range": lambda np: np.add.at(np.arange(3), [5], 1),
    "reduceat": lambda np: np.add.reduceat(np.arange(8.0), [0, 4, 1, 5]),
    "maximum reduceat": lambda np: np.maximum.reduceat(xs(np), [0, 1], axis=1),
    "reduce of axes": lambda np: np.add.reduce(xs(np), axis=(0, 1), keepdims=True),
    "reduce of no axes": lambda np: np.add.reduce(xs(np), axis=()),
    "reduce from": lambda np: np.add.reduce(xs(np), initial=10),
    "reduce where": lambda np: np.add.reduce(xs(np), axis=None, where=xs(np) > 2),
    "reduce out": lambda np: (lambda o: (np.add.reduce(xs(np), out=o) is o, o))(np.zeros(3)),
    "reduce bytes": lambda np: np.add.reduce(np.array([200, 100], dtype=np.uint8)),
    "reduce flags": lambda np: np.add.reduce(np.array([True, True])),
    "reduce in a dtype": lambda np: np.add.reduce(np.array([1, 2]), dtype=np.float32),
    "reduce nothing": lambda np: np.add.reduce(np.zeros((0, 3))),
    "maximum of nothing": lambda np: np.maximum.reduce(np.zeros((0, 3))),
    "maximum from": lambda np: np.maximum.reduce(np.zeros((0, 3)), initial=1.5),
    "reduce a wrong axis": lambda np: np.add.reduce(xs(np), axis=2),
    "reduce a list": lambda np: np.add.reduce([1, 2, 3]),
    "accumulate": lambda np: np.add.accumulate(xs(np), axis=1),
    "accumulate bytes": lambda np: np.add.accumulate(np.array([200, 100], dtype=np.uint8)),
    "accumulate out": lambda np: np.multiply.accumulate(xs(np), out=np.zeros((2, 3))),
    "accumulate without axes": lambda np: np.add.accumulate(np.array(1.0)),
    "accumulate maximum": lambda np: np.maximum.accumulate(np.array([1, 5, 2, 7])),
    "accumulate subtract": lambda np: np.subtract.accumulate(np.arange(4.0)),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    assert_agree(METHODS[name])


REDUCED = [
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "subtract",
    "hypot",
    "fmax",
    "gcd",
]


@pytest.mark.parametrize("name", REDUCED)
def test_reduce_on_every_dtype(name: str) -> None:
    for letter, axis in itertools.product(DTYPES, (0, 1, None)):

        def program(np: Any, letter: str = letter, axis: int | None = axis) -> Any:
            return getattr(np, name).reduce(np.array(sample(letter)[:8].reshape(2, 4)), axis=axis)

        assert_agree(program, rtol=1e-5)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_or"])
def test_accumulate_on_every_dtype(name: str) -> None:
    for letter in DTYPES:

        def program(np: Any, letter: str = letter) -> Any:
            return getattr(np, name).accumulate(np.array(sample(letter)[:6]))

        assert_agree(program, rtol=1e-3 if letter == "e" else 1e-5)


PRODUCTS = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((2, 3), (2, 3)),
    ((), (3,)),
    ((4, 2, 3), (5, 3, 2)),
]


@pytest.mark.parametrize("name", ["matmul", "vecdot", "matvec", "vecmat"])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products_of_matrices(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    if not hasattr(numpy, name):
        pytest.skip(f"this NumPy has no {name}")
    for dtype in (float, int, bool, complex):

        def program(np: Any, dtype: type = dtype) -> Any:
            made = [np.arange(float(numpy.prod(s))).reshape(s).astype(dtype) for s in shapes]
            return getattr(np, name)(*made)

        assert_agree(program)


def test_a_negative_integer_power_in_data_raises_at_the_cut() -> None:
    exponents = lnp.arange(3) - 1
    made = lnp.arange(3) ** exponents
    with pytest.raises(ValueError, match=r"negative integer powers.*test_ufunc"):
        numpy.asarray(made)


def test_attributes_are_numpys() -> None:
    for name in NAMES:
        lazy, real = getattr(lnp, name), getattr(numpy, name)
        for attribute in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
            assert getattr(lazy, attribute) == getattr(real, attribute)
        assert (lazy.__name__, repr(lazy)) == (name, repr(real))
        assert isinstance(lazy, lnp.ufunc)
        assert isinstance(real, lnp.ufunc)
    assert lnp.abs is lnp.absolute
    assert inspect.isclass(lnp.ufunc)
