"""Which of NumPy's names there are, and how their modules are imported."""

from __future__ import annotations

import importlib
import pickle
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.frontends.numpy import coverage, namespace
from lazytensor.frontends.numpy.host.fallback import public_name
from lazytensor.frontends.numpy.ufuncs.table import UFUNCS
from tests.numpy.expressions import table
from tests.numpy.test_functions import THEMES

MODULES = ["fft", "linalg", "random", "testing"]


@pytest.mark.parametrize("name", MODULES)
def test_modules_can_be_imported(name: str) -> None:
    found = importlib.import_module(f"lazytensor.numpy.{name}")
    assert found is getattr(lnp, name) is namespace.MODULES[name]


@pytest.mark.parametrize("home", ["", "fft", "linalg", "random"])
def test_every_public_name_is_there(home: str) -> None:
    theirs: Any = getattr(numpy, home) if home else numpy
    ours: Any = getattr(lnp, home) if home else lnp
    names = [name for name in dir(theirs) if not name.startswith("_")]
    assert [name for name in names if not hasattr(ours, name)] == []
    assert set(names) <= set(dir(ours))


def test_the_dict_of_the_module_has_every_name() -> None:
    names = vars(lnp)
    names.pop("hypot")
    assert eval("float(hypot(3, 4))", vars(lnp)) == 5
    assert vars(numpy).keys() <= vars(lnp).keys()


NUMPYS = {
    # what C code asks for memory that lazy arrays do not have
    "__array_interface__",
    "__array_struct__",
    # how NumPy's own pickles are read
    "__setstate__",
    "__getnewargs__",
    # C's own tests of float formats
    "__getformat__",
}


@pytest.mark.parametrize("make", ["np.ones((2, 3))", "np.ones(3).sum()"])
def test_every_attribute_of_arrays_is_there(make: str) -> None:
    theirs, ours = (eval(make, {"np": np}) for np in (numpy, lnp))
    public = {name for name in dir(theirs) if not name.startswith("_")}
    assert public - {name for name in public if hasattr(ours, name)} == set()
    special = {name for name in dir(theirs) if name.startswith("__")} - NUMPYS
    assert sorted(name for name in special if not hasattr(ours, name)) == []


@pytest.mark.parametrize("home", ["", *MODULES])
def test_functions_are_pickled_by_name(home: str) -> None:
    theirs: Any = getattr(numpy, home) if home else numpy
    ours: Any = getattr(lnp, home) if home else lnp
    names = [name for name in dir(theirs) if name[0] != "_" and _is_kept(getattr(theirs, name))]
    assert len(names) > 10
    assert [name for name in names if not _is_kept(getattr(ours, name))] == []


def _is_kept(function: Any) -> bool:
    """Whether a function is the same after pickling."""
    try:
        return callable(function) and pickle.loads(pickle.dumps(function)) is function
    except (pickle.PicklingError, AttributeError, TypeError):
        return False


def test_the_namespace_is_pickled_by_name() -> None:
    """As cloudpickle does with modules, in functions that joblib sends to its workers."""
    assert pickle.loads(pickle.dumps(lnp)) is lnp


def test_arrays_are_generic_as_numpys() -> None:
    assert lnp.ndarray[Any, float].__origin__ is lnp.ndarray
    with pytest.raises(ValueError, match="delete"):
        del lnp.ones(3)[0]


def test_how_much_is_lazy() -> None:
    """All of NumPy's functions are there, and nine in ten never wait for values."""
    for home, counts in coverage.table():
        assert coverage.missing(home) == [], home
        assert counts[coverage.FALLBACK] == 0, home
        assert coverage.lazy_share(counts) >= 0.9, (home, counts)
    top = dict(coverage.table())[""]
    assert top.total() == len(coverage.callables("")) >= 380
    assert top[coverage.OUTCOME_RECORDED] >= 0.75 * top.total()


def test_what_is_said_to_record_does() -> None:
    """Some expression that may not cut (see `expressions.py`) has each function that records."""
    text = "\n".join(line for line in table(*THEMES) if not line.startswith("!"))
    seen = set(re.findall(r"np\.(\w+)\(", text))
    recorded = {
        n for n in coverage.callables("") if coverage.kind("", n) == coverage.OUTCOME_RECORDED
    }
    assert recorded - seen - set(UFUNCS) - {"row_stack"} == set()  # NumPy warns of that name
    assert not coverage.BY_DATA & seen


def called() -> Iterator[tuple[str, Any]]:
    """What NumPy may be asked to compute."""
    for home in ("", "linalg", "fft", "lib.stride_tricks"):
        module = attrgetter(home)(numpy) if home else numpy
        for name in coverage.callables(home):
            yield name, getattr(module, name)
    for name in dir(numpy.ndarray):
        method = getattr(numpy.ndarray, name)
        if not name.startswith("_") and callable(method):
            yield name, method
    for method in ("at", "reduce", "accumulate", "reduceat", "outer"):
        yield method, getattr(numpy.add, method)


def test_what_numpy_computes_is_called_what_numpy_calls_it() -> None:
    for name, function in called():
        shown = public_name(name, function)
        assert shown.startswith("numpy.")
        assert attrgetter(shown.removeprefix("numpy."))(numpy) == function, shown
    assert public_name("at", numpy.frompyfunc(abs, 1, 1)) == "abs (vectorized)"


def test_report() -> None:
    lines = coverage.report().splitlines()
    assert [line.split()[0] for line in lines if line.startswith("numpy")][:3] == [
        "numpy",
        "numpy.linalg",
        "numpy.fft",
    ]
