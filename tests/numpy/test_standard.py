"""What the array API standard asks for, and how arrays cross to other libraries and to files."""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy
import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar
from tests.numpy.agreement import assert_agree

STANDARD_DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)


def test_namespace() -> None:
    x = lnp.arange(3.0)
    assert x.__array_namespace__() is lnp
    assert x.sum().__array_namespace__(api_version="2024.12") is lnp
    assert lnp.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"1999\.12"):
        x.__array_namespace__(api_version="1999.12")


def test_information() -> None:
    info = lnp.__array_namespace_info__()
    theirs = numpy.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.devices() == ("cpu",)
    assert info.capabilities() == theirs.capabilities()
    assert info.default_dtypes() == theirs.default_dtypes()
    assert [*info.dtypes()] == STANDARD_DTYPES.split()


@pytest.mark.parametrize("kind", [None, "bool", "integral", "numeric", ("bool", "real floating")])
def test_information_of_dtypes_is_numpys(kind: Any) -> None:
    found = lnp.__array_namespace_info__().dtypes(kind=kind)
    assert found == numpy.__array_namespace_info__().dtypes(kind=kind)


def test_devices() -> None:
    x = lnp.arange(3.0)
    assert x.device == x.sum().device == "cpu"
    assert x.to_device("cpu") is x
    for call in (x.to_device, lambda device: lnp.zeros(3, device=device)):
        with pytest.raises(ValueError, match="gpu"):
            call("gpu")
    with pytest.raises(ValueError, match="Device"):
        lnp.__array_namespace_info__().dtypes(device="gpu")


KEYWORDS: dict[str, list[str]] = {
    "clip": ["a", "min", "max", "out", "a_min", "a_max"],
    "sort": ["a", "axis", "kind", "order", "descending", "stable"],
    "argsort": ["a", "axis", "kind", "order", "descending", "stable"],
    "fft.fftfreq": ["n", "d", "device", "dtype"],
    "fft.rfftfreq": ["n", "d", "device", "dtype"],
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_signatures_show_the_standards_keywords(name: str) -> None:
    found: Any = lnp
    for part in name.split("."):
        found = getattr(found, part)
    names = [*inspect.signature(found).parameters]
    assert names[: len(KEYWORDS[name])] == KEYWORDS[name]


@pytest.mark.parametrize("axis", [-1, 0, 1, -2, None])
@pytest.mark.parametrize("dtype", [int, float, numpy.uint8, bool])
def test_descending(axis: int | None, dtype: type) -> None:
    real = numpy.array([[3, 1, 2, 1], [0, 2, 1, 1], [1, 0, 0, 1]]).astype(dtype)
    x = lnp.array(real)
    line = -1 if axis is None else axis
    flat = real.ravel() if axis is None else real
    numpy.testing.assert_array_equal(
        lnp.sort(x, axis, descending=True), numpy.flip(numpy.sort(real, axis), line)
    )
    # The greatest first; of equal ones the first first: what a stable sort of the negated gives.
    expected = numpy.argsort(-flat.astype(int), line, stable=True)
    numpy.testing.assert_array_equal(lnp.argsort(x, axis, descending=True), expected)


def test_descending_stays_lazy() -> None:
    x = lnp.arange(5.0)
    before = lazytensor.metrics.snapshot()
    made = lnp.sort(x, descending=True), lnp.argsort(x, descending=True, stable=True)
    after = lazytensor.metrics.snapshot()
    assert all(isinstance(y, Lazy) for y in made)
    assert (after["cuts"], after["fallbacks"]) == (before["cuts"], before["fallbacks"])


def test_lists_can_be_sorted_descending() -> None:
    numpy.testing.assert_array_equal(lnp.sort([1, 3, 2], descending=True), [3, 2, 1])
    numpy.testing.assert_array_equal(lnp.argsort([1, 3, 2], descending=True), [1, 2, 0])


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_dtypes_of_frequencies(name: str) -> None:
    function = getattr(lnp.fft, name)
    made = function(5, 0.5, dtype=numpy.float32)
    assert made.dtype == numpy.float32
    numpy.testing.assert_allclose(made, getattr(numpy.fft, name)(5, 0.5), 1e-7)
    with pytest.raises(TypeError, match=name):
        function(5, dtype=int)


MASKS = [((1,), (0,)), ((1, 3), (0,)), ((1, 2), (0, 2)), ((2, 1), (2, 0)), ((2,), (3,)), ((), ())]


@pytest.mark.parametrize(("shape", "mask"), MASKS)
def test_masks_over_nothing(shape: tuple[int, ...], mask: tuple[int, ...]) -> None:
    assert_agree(lambda np: np.ones(shape)[np.zeros(mask, bool)])

    def written(np: Any) -> Any:
        x = np.ones(shape)
        x[np.zeros(mask, bool)] = 7
        return x

    assert_agree(written)


@pytest.mark.parametrize("k", [0, 3, -3, 2**31, 2**63 - 1, -(2**62)])
def test_diagonals_far_away(k: int) -> None:
    assert_agree(lambda np: (np.eye(2, 3, k), np.tri(2, 3, k)))


FLOOR_DIVISIONS = [
    (numpy.inf, 2.0, numpy.inf),
    (numpy.inf, -2.0, -numpy.inf),
    (-numpy.inf, 2.0, -numpy.inf),
    (-numpy.inf, -2.0, numpy.inf),
    (numpy.inf, numpy.inf, numpy.nan),
    (1.0, -numpy.inf, -1.0),
    (-1.0, numpy.inf, -1.0),
    (1.0, numpy.inf, 0.0),
    (7.0, 2.0, 3.0),
    (-7.0, 2.0, -4.0),
    (numpy.nan, 2.0, numpy.nan),
]


@pytest.mark.parametrize("dtype", [numpy.float16, numpy.float32, numpy.float64])
def test_floor_division(dtype: type) -> None:
    """An infinity over a number is the standard's; all else is NumPy's."""
    x, y, expected = (numpy.array(column, dtype) for column in zip(*FLOOR_DIVISIONS, strict=True))
    numpy.testing.assert_array_equal(lnp.array(x) // lnp.array(y), expected)
    with numpy.errstate(invalid="ignore"):
        theirs = x // y
    far = numpy.isinf(x) & numpy.isfinite(y)
    numpy.testing.assert_array_equal(theirs[~far], expected[~far])


# Each dtype that DLPack and lazy arrays both have.
CROSSING = STANDARD_DTYPES.split()


@pytest.mark.parametrize("dtype", CROSSING)
def test_dlpack_to_numpy_and_back(dtype: str) -> None:
    x = lnp.arange(6).astype(dtype).reshape(2, 3).T
    out = numpy.from_dlpack(x)
    assert (out.dtype, out.shape) == (x.dtype, x.shape)
    numpy.testing.assert_array_equal(out, x)
    back = lnp.from_dlpack(numpy.asarray(x))
    assert type(back) is numpy.ndarray  # which shows what others write to
    assert back.dtype == x.dtype
    numpy.testing.assert_array_equal(back, x)


def test_a_copy_by_dlpack_is_lazy() -> None:
    real = numpy.arange(3.0)
    made = lnp.from_dlpack(real, copy=True)
    assert isinstance(made, Lazy)
    real[0] = 9
    numpy.testing.assert_array_equal(made, [0, 1, 2])


def test_dlpack_between_lazy_arrays_is_a_view() -> None:
    x = lnp.arange(3.0) + 1
    before = lazytensor.metrics.snapshot()["cuts"]
    view, other = lnp.from_dlpack(x), lnp.from_dlpack(x, copy=True)
    assert lazytensor.metrics.snapshot()["cuts"] == before
    view[0] = 9
    numpy.testing.assert_array_equal(x, [9, 2, 3])
    numpy.testing.assert_array_equal(other, [1, 2, 3])


def test_dlpack_with_another_library() -> None:
    numpy.testing.assert_array_equal(jax.numpy.from_dlpack(lnp.arange(3.0)), [0, 1, 2])
    made = lnp.from_dlpack(jax.numpy.arange(3.0))
    assert isinstance(made, Lazy)
    numpy.testing.assert_array_equal(made, [0, 1, 2])


def test_dlpack_of_another_device_is_refused() -> None:
    x = lnp.arange(3.0)
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="gpu"):
        lnp.from_dlpack(x, device="gpu")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is new in Python 3.12")
@pytest.mark.parametrize("dtype", ["uint8", "float64", "complex64", "bool"])
def test_buffers_are_the_memory(dtype: str) -> None:
    x = lnp.arange(6).astype(dtype).reshape(2, 3)
    view = memoryview(x)
    assert view.shape == (2, 3)
    numpy.testing.assert_array_equal(numpy.asarray(view), x)
    assert bytes(x) == numpy.asarray(x).tobytes()
    view.cast("B")[0] = 1
    assert bool(x[0, 0])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is new in Python 3.12")
@pytest.mark.parametrize("size", [2, 5_000])
def test_who_writes_to_a_buffer_writes_to_the_array(size: int) -> None:
    x = lnp.zeros((4, size)) + 1
    total = x.sum()
    assert io.BytesIO(numpy.full(size, 7.0).tobytes()).readinto(x[2]) == 8 * size
    expected = numpy.ones((4, size))
    expected[2] = 7
    numpy.testing.assert_array_equal(x + 0, expected)
    assert total == 4 * size
    with pytest.raises(TypeError, match="read-write"):  # as of an array that is read-only
        io.BytesIO(b"").readinto(lnp.broadcast_to(x[0], (4, size)))


def test_numpy_is_given_an_array_by_no_other_way() -> None:
    """Not a buffer's copy, which it would take for what it asked for."""
    x = lnp.ones((3, 4)) + 0
    shared = numpy.array(x, copy=False)
    shared[0, 0] = 9
    assert float(x[0, 0]) == 9
    assert numpy.asarray(x).base is None


MADE: dict[str, Callable[[Any], Any]] = {
    "array": lambda np: np.arange(6.0).reshape(2, 3),
    "columns": lambda np: np.arange(6.0).reshape(2, 3).T,
    "view": lambda np: np.arange(6.0)[::2],
    "no axes": lambda np: np.array(2.5),
    "scalar": lambda np: np.arange(6.0).sum(),
    "empty": lambda np: np.zeros((0, 3), np.float32),
    "complex": lambda np: np.arange(3) * 1j,
    "flags": lambda np: np.arange(3) > 1,
}


def stored(np: Any, x: Any) -> Any:
    """Through `np.save` and `np.load`."""
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    return np.load(file)


def zipped(np: Any, x: Any) -> Any:
    """Through `np.savez`, by NumPy itself."""
    file = io.BytesIO()
    numpy.savez(file, x, name=x)
    file.seek(0)
    return np.load(file)["name"]


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f"pickle {n}": lambda np, x, n=n: pickle.loads(pickle.dumps(x, n))  # type: ignore[misc]
        for n in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy": lambda np, x: copy.copy(x),
    "deep copy": lambda np, x: copy.deepcopy([x, x])[1],
    "save": stored,
    "savez": zipped,
    "bytes": lambda np, x: x.tobytes(),
    "dumps": lambda np, x: pickle.loads(x.dumps()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MADE)
def test_there_and_back(name: str, way: str) -> None:
    assert_agree(lambda np: WAYS[way](np, MADE[name](np)))


@pytest.mark.parametrize("way", ["pickle 5", "copy", "deep copy"])
@pytest.mark.parametrize("name", MADE)
def test_what_comes_back_is_its_own(name: str, way: str) -> None:
    x = MADE[name](lnp)
    made = WAYS[way](lnp, x)
    if x.size:  # NumPy's copy of nothing has strides of 0
        assert made.strides == WAYS[way](numpy, MADE[name](numpy)).strides
    if type(x) is not Scalar:
        assert type(made) is type(x)
        expected = numpy.array(x)
        made[...] = 1
        numpy.testing.assert_array_equal(x, expected)
