"""What reaches an array's memory, or takes over its operators, does with ours what it does with
NumPy's.

`programs/*.txt` are small programs over a namespace `np` and an array `x` of 0.0, 1.0, 2.0, …
"""

from __future__ import annotations

import copy
import ctypes
import gc
import io
import itertools
import operator
import pickle
import struct
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.runtime.lending import Lent
from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_agree

BOUNDS = {"large": 16_384, "all lazy": 0, "a part of a large one": 16_384}
"""By what `x` is: the size from which arrays are lazy."""

NO_ARRAY = "a lazy array is no numpy.ndarray, which NumPy's own `numpy.testing` asks for"
TAKEN_AS_VALUES = "what enters by `asarray` is copied, as a lazy array shares nothing with others"
DIFFERENT: dict[tuple[str, str], str] = {
    **{("testing_of_numpy", kind): NO_ARRAY for kind in BOUNDS},
    ("own_array_interface_is_shared", "large"): TAKEN_AS_VALUES,
    ("own_array_interface_is_shared", "all lazy"): TAKEN_AS_VALUES,
}
"""Programs that differ, with which arrays, and why (docs/differences.md)."""


class User(numpy.ndarray):
    """An array class of a user's, with an attribute of its own."""

    def __array_finalize__(self, source: Any) -> None:
        self.tag = getattr(source, "tag", "new")


def tried(function: Callable[..., Any], *args: Any) -> Any:
    """A function's result, or the name of its exception."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 (it is the result)
        return type(error).__name__


NAMES: dict[str, Any] = {
    "User": User,
    "ctypes": ctypes,
    "io": io,
    "numpy": numpy,
    "copy": copy,
    "operator": operator,
    "pickle": pickle,
    "struct": struct,
    "tempfile": tempfile,
    "tried": tried,
}


def _programs() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / "programs").glob("*.txt")):
        for text in path.read_text().split("\n\n"):
            if not text.startswith("#"):
                name, _, body = text.strip().partition(":\n")
                assert name not in found
                found[name] = body
    return found


PROGRAMS = _programs()


def x_of(np: Any, kind: str) -> Any:
    """The array that a program is given."""
    if kind == "a part of a large one":
        return np.arange(20_000.0)[:24] * 1.0
    return np.arange(20_000.0 if kind == "large" else 24.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(*case, marks=pytest.mark.xfail(strict=True, reason=DIFFERENT[case]))
        if case in DIFFERENT
        else case
        for case in itertools.product(PROGRAMS, BOUNDS)
    ],
)
def test_as_with_numpy(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", BOUNDS[kind])
    space = dict(NAMES)
    exec(compile(f"def program(np, x):\n{PROGRAMS[name]}", name, "exec"), space)
    assert_agree(lambda np: space["program"](np, x_of(np, kind)))


SHOWN: dict[str, Callable[[Any], Any]] = {
    "masked array": numpy.ma.array,
    "matrix": numpy.asmatrix,
    "no copy": lambda x: numpy.asarray(x, copy=False),
    "class": lambda x: x.view(User),
    "buffer": lambda x: x.data,
    "DLPack": numpy.from_dlpack,
    "iterator": lambda x: lnp.nditer(x, op_flags=["readwrite"]),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", SHOWN)
def test_memory_is_lent_as_long_as_it_is_shown(name: str) -> None:
    x = lnp.arange(20_000.0) + 1
    shown = SHOWN[name](x)
    assert type(x.ref.cell) is Lent
    x.sum()
    assert type(x.ref.cell) is Lent
    del shown
    gc.collect()
    assert float(x.sum()) == 200_010_000.0
    assert type(x.ref.cell) is Cell


ADDRESSED: dict[str, Callable[[Any], int]] = {
    "ctypes": lambda x: x.ctypes.data,
    "array interface": lambda x: x.__array_interface__["data"][0],
}


@pytest.mark.parametrize("name", ADDRESSED)
def test_an_address_is_that_of_the_data_as_long_as_they_live(name: str) -> None:
    x = lnp.arange(20_000.0) + 1
    address = ADDRESSED[name](x)
    view, total = x[3:], x.sum()
    lazytensor.sync()
    x += 1
    ctypes.memset(address, 0, 32)
    assert float(total) == 200_010_000.0
    assert view[:3].tolist() == [0.0, 6.0, 7.0]
    assert ADDRESSED[name](x) == address
    cell = weakref.ref(x.ref.cell)
    del x, view
    gc.collect()
    assert cell() is None
