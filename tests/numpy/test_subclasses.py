"""Classes that users derive from `ndarray`: what they do with NumPy's they do with the lazy one."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.settings import settings


@pytest.fixture(params=[0, 16384], ids=["lazy", "NumPy's own"], autouse=True)
def _small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrays of six elements are."""
    monkeypatch.setattr(settings, "small", request.param)
    monkeypatch.setattr(settings, "tier", "interpret")


def labelled(np: ModuleType) -> Any:
    """The class of NumPy's documentation, which keeps what it was told; and methods of the base."""

    class Labelled(np.ndarray):  # type: ignore[misc, name-defined]
        def __new__(cls, data: Any, label: str = "") -> Any:
            made = np.asarray(data).view(cls)
            made.label = label
            return made

        def __array_finalize__(self, source: Any) -> None:
            self.label = getattr(source, "label", "none")

        def __getitem__(self, key: Any) -> Any:
            return np.ndarray.__getitem__(self, key)

    return Labelled


def counting(np: ModuleType) -> Any:
    """The class of NumPy's documentation that computes ufuncs by itself, on plain arrays."""

    class Counting(np.ndarray):  # type: ignore[misc, name-defined]
        def __array_ufunc__(
            self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **kwargs: Any
        ) -> Any:
            def plain(x: Any) -> Any:
                return x.view(np.ndarray) if isinstance(x, Counting) else x

            if out:
                kwargs["out"] = tuple(map(plain, out))
            made = super().__array_ufunc__(ufunc, method, *map(plain, inputs), **kwargs)
            if made is NotImplemented:
                return made
            made = out[0] if out else np.asarray(made).view(Counting)
            if isinstance(made, Counting):
                made.label = sum(isinstance(x, Counting) for x in (*inputs, *out))
            return made

    return Counting


Program = Callable[[Any, Any, Any], Any]
BOTH: dict[str, Program] = {
    "itself": lambda q, x, np: q,
    "a part": lambda q, x, np: q[2:4],
    "an element": lambda q, x, np: q[2],
    "a method": lambda q, x, np: q.cumsum(),
    "turned": lambda q, x, np: q.reshape(2, -1).T,
    "the other operand": lambda q, x, np: x + q,
    "first operand": lambda q, x, np: q - x,
    "with a lazy scalar": lambda q, x, np: q * x.max(),
    "a ufunc": lambda q, x, np: np.sin(q),
    "a ufunc of two": lambda q, x, np: np.hypot(x, q),
    "reduced": lambda q, x, np: np.add.reduce(q),
    "summed": lambda q, x, np: np.sum(q.reshape(-1, 2), axis=0),
    "compared": lambda q, x, np: x < q,
    "joined": lambda q, x, np: np.concatenate([x, q]),
    "chosen": lambda q, x, np: np.where(x > 2, q, x),
    "as an index": lambda q, x, np: x[q.astype(int)],
    "written to": lambda q, x, np: (q.__setitem__(slice(1, 3), 9), q)[1],
    "written from": lambda q, x, np: (x.__setitem__(slice(None), q * 2), x)[1],
    "added in place": lambda q, x, np: (lambda x: x.__iadd__(q))(x + 1),
    "a result goes there": lambda q, x, np: np.add(x, 1, out=q),
    "its result goes elsewhere": lambda q, x, np: np.add(q, 1, out=x.copy()),
    "as any array": lambda q, x, np: np.asanyarray(q),
    "as an array": lambda q, x, np: np.asarray(q),
    "copied": lambda q, x, np: (np.copy(q), np.copy(q, subok=True), np.array(q, subok=True)),
    "like it": lambda q, x, np: np.zeros_like(q),
    "plain again": lambda q, x, np: q.view(np.ndarray),
    "plain by type": lambda q, x, np: q.view(type=np.ndarray),
    "of NumPy's own": lambda q, x, np: x.view(np.recarray),
    "known": lambda q, x, np: (isinstance(q, np.ndarray), issubclass(type(q), np.ndarray)),
}


def described(value: Any) -> Any:
    """Class, label and values."""
    if isinstance(value, tuple):
        return tuple(map(described, value))
    kind = "scalar" if not numpy.ndim(value) else type(value).__name__
    return kind, getattr(value, "label", None), numpy.asarray(value).tolist()


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("make", [labelled, counting])
def test_as_with_numpy(make: Any, name: str) -> None:
    found = []
    for np in (numpy, lnp):
        x = np.arange(6.0)
        found.append(described(BOTH[name](x.copy().view(make(np)), x, np)))
    assert found[1] == found[0]


def test_constructors() -> None:
    """What a class makes of data, and what its base makes of a shape."""
    found = []
    for np in (numpy, lnp):
        kind = labelled(np)
        made = [kind(np.arange(6), "a"), np.ndarray.__new__(kind, (6,), "i8")]
        made[1][:] = 3
        found.append([*map(described, made), described(made[0] + made[1])])
    assert found[1] == found[0]


METHODS: dict[str, tuple[Any, ...]] = {
    "tolist": (),
    "sum": (),
    "copy": (),
    "astype": ("f4",),
    "reshape": (2, -1),
    "view": ("i8",),
    "flatten": (),
    "dot": (numpy.ones(6),),
    "max": (0,),
    "__len__": (),
    "__getitem__": (2,),
    "__add__": (1,),
    "__iadd__": (1,),
    "__eq__": (3,),
    "__repr__": (),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_the_class_take_real_arrays(name: str) -> None:
    """`map(np.ndarray.tolist, rows)`, where rows are small."""
    x = numpy.arange(6.0)
    expected = getattr(numpy.ndarray, name)(x.copy(), *METHODS[name])
    found = getattr(lnp.ndarray, name)(x.copy(), *METHODS[name])
    assert numpy.array_equal(found, expected)
    assert type(found) is type(expected)
