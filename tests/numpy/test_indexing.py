"""Indexing: what a key selects, what is written through it, what is refused, as NumPy does."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_agree

Key = tuple[Any, ...]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)


def grid(np: Any) -> Any:
    return np.arange(24.0).reshape(2, 3, 4) * 1.0


FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "real array": lambda np, a: a,
    "array": lambda np, a: np.array(a),
    "pending array": lambda np, a: ~~np.array(a) if a.dtype == bool else np.array(a) * 1,
    "list": lambda np, a: a.tolist(),
}


def random_key(
    r: random.Random, shape: tuple[int, ...], advanced: bool = True, faults: float = 0.04
) -> Key:
    """Slices, integers, newaxis, ellipsis, arrays of indices, masks; some of it out of range."""
    found: list[Any] = []
    axis = 0
    while axis < len(shape) and r.random() < 0.85:
        n, choice = shape[axis], r.random()
        if choice < 0.35 or (choice < 0.7 and not advanced):
            ends = [r.choice([None, r.randint(-n - 1, n + 1)]) for _ in range(2)]
            found.append(slice(*ends, r.choice([None, 1, 2, -1, -2])))
            axis += 1
        elif choice < 0.45:
            found.append(None)
        elif choice < 0.7:
            size = r.choice([(2,), (3,), (1,), (2, 3), (), (0,)])
            data = [
                r.randint(-n, max(n - (r.random() > faults), -n))
                for _ in range(int(numpy.prod(size)))
            ]
            found.append(numpy.array(data, r.choice(["i8", "i4"])).reshape(size))
            axis += 1
        elif choice < 0.8 and advanced:
            width = min(r.choice([1, 1, 2]), len(shape) - axis)
            sizes = shape[axis : axis + width]
            found.append(numpy.array([r.random() < 0.5 for _ in range(int(numpy.prod(sizes)))]))
            found[-1] = found[-1].reshape(sizes)
            axis += width
        else:
            found.append(r.randint(-n - (r.random() < faults), max(n - 1, 0)))
            axis += 1
    if r.random() < 0.25:
        found.insert(r.randint(0, len(found)), ...)
    return tuple(found)


def in_form(np: Any, key: Key, forms: list[str]) -> Key:
    """The key with its arrays in the forms given, by turns."""
    return tuple(
        FORMS[forms[i % len(forms)]](np, part) if isinstance(part, numpy.ndarray) else part
        for i, part in enumerate(key)
    )


def random_shape(r: random.Random) -> tuple[int, ...]:
    return tuple(r.randint(0 if r.random() < 0.1 else 1, 4) for _ in range(r.randint(1, 4)))


def filled(np: Any, shape: tuple[int, ...]) -> Any:
    return np.arange(float(numpy.prod(shape))).reshape(shape) * 1.0


VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "number": lambda np, part: -1.5,
    "same shape": lambda np, part: filled(np, part.shape) + 100,
    "last axis": lambda np, part: filled(np, part.shape[-1:]) + 100,
    "one element": lambda np, part: np.array([5.0]),
    "function of it": lambda np, part: part * 2 + 1,
    "wrong shape": lambda np, part: np.ones(7),
}


@given(st.integers(0, 2**32), st.lists(st.sampled_from(list(FORMS)), min_size=1, max_size=3))
def test_reading(seed: int, forms: list[str]) -> None:
    r = random.Random(seed)
    shape = random_shape(r)
    key = random_key(r, shape)

    def program(np: Any) -> Any:
        found = in_form(np, key, forms)
        return filled(np, shape)[found[0] if len(found) == 1 else found]

    assert_agree(program)


@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from(list(FORMS)), min_size=1, max_size=3),
    st.sampled_from(list(VALUES)),
)
def test_writing(seed: int, forms: list[str], value: str) -> None:
    r = random.Random(seed)
    shape = random_shape(r)
    # With two faults, the one in data would come second with us and first with NumPy.
    key = random_key(r, shape, faults=0 if value == "wrong shape" else 0.04)

    def program(np: Any) -> Any:
        found = in_form(np, key, forms)
        x = filled(np, shape)
        x[found] = VALUES[value](np, x[found])
        return x

    assert_agree(program)


Step = Callable[[Any, random.Random, list[Any], Any], Any]


def _assign_masked(a: Any, r: random.Random) -> None:
    mask = a > r.random() * 4
    a[mask] = a[mask] * 2 + 1


def _add_masked(a: Any, r: random.Random) -> None:
    a[a > r.random() * 4] += r.random()


def _reverse_part(a: Any, key: Key) -> None:
    part = a[key]
    a[key] = part[..., ::-1] if part.ndim else 3.0


STEPS: dict[str, Step] = {
    "index": lambda a, r, arrays, np: a[random_key(r, a.shape, advanced=False)],
    "index again": lambda a, r, arrays, np: a[random_key(r, a.shape, advanced=False)],
    "transpose": lambda a, r, arrays, np: a.transpose(r.sample(range(a.ndim), a.ndim)),
    "flat": lambda a, r, arrays, np: a.reshape(-1),
    "reshape": lambda a, r, arrays, np: a.reshape(a.shape[::-1]),
    "ravel": lambda a, r, arrays, np: a.ravel(order=r.choice("CFA")),
    "columns": lambda a, r, arrays, np: a.reshape(-1, order="F"),
    "diagonal": lambda a, r, arrays, np: a.diagonal(r.randint(-1, 1)),
    "copy": lambda a, r, arrays, np: a.copy(),
    "squeeze": lambda a, r, arrays, np: a.squeeze(),
    "swapaxes": lambda a, r, arrays, np: a.swapaxes(r.randint(-1, a.ndim - 1), 0),
    "fill": lambda a, r, arrays, np: a.fill(r.random()),
    "add": lambda a, r, arrays, np: a.__iadd__(1),
    "multiply": lambda a, r, arrays, np: a.__imul__(r.choice(arrays)),
    "write masked": lambda a, r, arrays, np: a.__setitem__(a > r.random() * 10, -r.random()),
    "assign masked": lambda a, r, arrays, np: _assign_masked(a, r),
    "add masked": lambda a, r, arrays, np: _add_masked(a, r),
    "assign another": lambda a, r, arrays, np: a.__setitem__(..., r.choice(arrays)),
    "flat element": lambda a, r, arrays, np: a.flat.__setitem__(r.randint(0, a.size - 1), 3.0),
    "overlap": lambda a, r, arrays, np: _reverse_part(a, random_key(r, a.shape, advanced=False)),
    "scatter": lambda a, r, arrays, np: a.__setitem__(random_key(r, a.shape), 2.0),
    "out": lambda a, r, arrays, np: np.add(a, 1, out=a),
    "barrier": lambda a, r, arrays, np: numpy.asarray(a).sum(),
    "shift": lambda a, r, arrays, np: a.__setitem__(slice(1, None), a[:-1]),
}


@given(st.integers(0, 2**32), st.lists(st.sampled_from(list(STEPS)), min_size=2, max_size=12))
def test_aliases(seed: int, steps: list[str]) -> None:
    """Random programs on arrays that share memory; layout, bases and errors are compared too."""

    def program(np: Any) -> Any:
        r = random.Random(seed)
        shape = tuple(r.randint(1, 4) for _ in range(r.randint(1, 3)))
        arrays = [filled(np, shape)]
        errors = []
        for name in steps:
            try:
                made = STEPS[name](r.choice(arrays), r, arrays, np)
            except (IndexError, ValueError) as error:
                errors.append(str(error))
                continue
            if isinstance(made, np.ndarray):
                arrays.append(made)
        strides = [
            [s for s, n in zip(x.strides, x.shape, strict=True) if n > 1 and x.size] for x in arrays
        ]
        flags = [(x.flags.c_contiguous, x.flags.f_contiguous, x.flags.writeable) for x in arrays]
        bases = [x.base is arrays[0] for x in arrays]
        shared = [np.shares_memory(x, y) for x in arrays for y in arrays if x.size and y.size]
        return arrays, strides, flags, bases, shared, errors

    assert_agree(program)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "last of equal indices wins": lambda x, np: (
        x.__setitem__(([0, 0, 1, 0],), np.arange(4.0)[:, None, None]),
        x,
    ),
    "integers between arrays": lambda x, np: x[[0, 1], 1, [2, 3]],
    "arrays apart come first": lambda x, np: x[[0, 1], :, [2, 3]],
    "an integer apart": lambda x, np: x[0, :, [2, 3]],
    "neighbours stay": lambda x, np: x[:, [0, 1], [2, 3]],
    "newaxis between": lambda x, np: x[[0, 1], None, [2, 0]],
    "mask and array": lambda x, np: x[np.array([True, True]), [0, 2]],
    "mask of two axes": lambda x, np: x[x[:, :, 0] > 5],
    "mask and slice": lambda x, np: x[:, x[0, :, 0] > 1, ::2],
    "flag": lambda x, np: (x[True].shape, x[False].shape, x[np.True_, 1].shape),
    "lazy integer": lambda x, np: x[x[0, 0].argmax() - 2, 1, 2],
    "lazy integer as a view": lambda x, np: (x[x[0, 0].argmax() - 3].fill(0), x),
    "lazy integer written": lambda x, np: (x[0, 0].__setitem__(x[0, 0].argmax(), -1), x),
    "lazy slice": lambda x, np: x[0, 0, : x[0, 0].argmax()],
    "negative lazy index": lambda x, np: x[0, 0][np.arange(3) - 3],
    "augmented view": lambda x, np: (x[0].__iadd__(1), x),
    "empty index": lambda x, np: x[[]].shape,
    "argsort as index": lambda x, np: x[0, 0][np.argsort(-x[0, 0])],
    "nonzero as index": lambda x, np: x[np.nonzero(x > 20)],
    "mask of another shape": lambda x, np: x[np.ones(3, bool)],
    "mask with too many axes": lambda x, np: x[np.ones((2, 3, 4, 1), bool)],
    "too many indices": lambda x, np: x[0, 0, 0, 0],
    "out of range": lambda x, np: x[2],
    "out of range below": lambda x, np: x[0, -4],
    "out of range in an array": lambda x, np: x[:, [0, 3]],
    "float index": lambda x, np: x[1.0],
    "text index": lambda x, np: x["a"],
    "float array index": lambda x, np: x[np.array([1.0])],
    "two ellipses": lambda x, np: x[..., ...],
    "arrays that do not broadcast": lambda x, np: x[[0, 1], [0, 1, 2]],
    "value that does not fit": lambda x, np: x.__setitem__(0, np.ones(3)),
    "value that does not fit an array": lambda x, np: x.__setitem__([0, 1], np.ones((2, 5))),
    "value that does not fit a mask": lambda x, np: x.__setitem__(x > 3, np.ones(3)),
    "sequence into an element": lambda x, np: x.__setitem__((0, 0, 0), [1.0, 2.0]),
    "text into floats": lambda x, np: x.__setitem__(0, "a"),
    "number as text": lambda x, np: (x.__setitem__(0, "2.5"), x),
    "none into floats": lambda x, np: (x.__setitem__(0, None), x),
    "complex into floats": lambda x, np: x.__setitem__(0, 1j),
    "slice with floats": lambda x, np: x[1.5:],
    "zero step": lambda x, np: x[::0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert_agree(lambda np: PROGRAMS[name](grid(np), np), text=True)


def test_a_masked_update_makes_no_cut() -> None:
    x = lnp.arange(6.0) * 1
    before = lazytensor.metrics.snapshot()["cuts"]
    mask = x > 2
    x[mask] = lnp.sqrt(x[mask] + 1) * x[mask]
    x[mask] += 1
    x[~mask] = 0
    x[x > 2.9] *= 2
    x[x > 50] = -x[x > 50]
    assert lazytensor.metrics.snapshot()["cuts"] == before
    real = numpy.arange(6.0)
    real[3:] = numpy.sqrt(real[3:] + 1) * real[3:] + 1
    real[:3] = 0
    real[real > 2.9] *= 2
    real[real > 50] *= -1
    numpy.testing.assert_allclose(x, real)


def test_index_data_out_of_range_raises_at_the_cut_and_changes_nothing() -> None:
    x = lnp.arange(4.0) * 1
    index = lnp.arange(3) + 3
    y = x[index]
    with pytest.raises(IndexError, match=r"axis 0 with size 4.*test_indexing"):
        numpy.asarray(y)
    x[lnp.arange(3) + 3] = 7
    with pytest.raises(IndexError, match="axis 0 with size 4"):
        lazytensor.sync()
    numpy.testing.assert_array_equal(x, [0, 1, 2, 3])
    assert float((x + 1).sum()) == 10


@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
def test_rows_and_columns_that_move_are_cut_out_of_large_arrays(
    monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    """From the second round on their places are data: the compiled program takes its own way."""
    monkeypatch.setattr(settings, "tier", "compile")
    expected = (numpy.random.default_rng(4).random((80, 90)) * 9).astype(dtype)
    given = lnp.array(expected)
    for i in range(5):
        for a in (expected, given):
            a[:] = a[:, i : i + 1] + a * a[40 - 2 * i, ::-1] - a[i + 1 : i + 9 : 4, 3].sum()
        lazytensor.sync()
    numpy.testing.assert_allclose(numpy.asarray(given), expected, rtol=1e-12)
