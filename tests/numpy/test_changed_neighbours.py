"""Libraries that take NumPy's arrays only, as they are under `lazytensor run`."""

import importlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy import sparse

import lazytensor.numpy as lazy
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.interop import third_party_patches

LARGE = 20_000


@pytest.fixture(params=[0, 16_384], ids=["all lazy", "by default"], autouse=True)
def _changed(request: pytest.FixtureRequest) -> Iterator[None]:
    before, settings.small = settings.small, request.param
    undo = third_party_patches.watch()
    yield
    undo()
    settings.small = before


REFUSING = "from numpy._core.multiarray import _place as place\n"
"""A function in C that takes nothing but NumPy's arrays, and writes into the first."""


def test_c_functions_are_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What refuses lazy arrays gets their memory, in modules that are known to, when imported."""
    (tmp_path / "cv2.py").write_text(REFUSING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cv2", raising=False)
    place = importlib.import_module("cv2").place
    del sys.modules["cv2"]
    x, real = (np.arange(float(LARGE)) + 0.0 for np in (lazy, numpy))
    for a in (x, real):
        place(a, a > 3, numpy.array([7.0, 8.0]))
        a += 1
        place(a[::-2], a[::2] > 8, numpy.array([-1.0]))
    numpy.testing.assert_array_equal(x, real)
    with pytest.raises(TypeError, match="must be numpy"):
        place([1.0], numpy.ones(1, bool), numpy.ones(1))
    with pytest.raises(ValueError, match="Cannot insert from an empty array"):
        place(x, x > 0, numpy.zeros(0))


def test_what_is_drawn_on_is_the_lazy_array() -> None:
    cv2 = pytest.importorskip("cv2")
    x, real = (np.zeros((200, 200, 3), np.uint8) for np in (lazy, numpy))
    for a in (x, real):
        assert cv2.line(a, (10, 10), (150, 90), (255, 0, 0), 3) is a
        a[100:] //= 2
        cv2.circle(a[:, 100:], (50, 50), 20, (0, 255, 0), -1)
    numpy.testing.assert_array_equal(x, real)
    numpy.testing.assert_array_equal(
        cv2.GaussianBlur(x, (5, 5), 1), cv2.GaussianBlur(real, (5, 5), 1)
    )


def test_compiled_loops_write_into_lazy_arrays() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit  # type: ignore[untyped-decorator]
    def run(a: Any, step: float) -> Any:
        for i in range(1, a.size):
            a[i] += a[i - 1] * step
        return a

    x, real = (np.ones(LARGE) * 2.0 for np in (lazy, numpy))
    for a in (x, real):
        assert run(a, a.mean() / 4) is a
        a *= 0.5
        run(a, 0.25)
    numpy.testing.assert_allclose(x, real, rtol=1e-14)


def test_checked_arguments_may_be_lazy() -> None:
    image = pytest.importorskip("sklearn.feature_extraction.image")

    def patches(np: Any) -> Any:
        return image.extract_patches_2d(np.arange(float(LARGE)).reshape(200, 100) + 1, (3, 4))

    numpy.testing.assert_array_equal(patches(lazy), patches(numpy))


def test_everything_is_put_back() -> None:
    places = [(json.encoder, "c_make_encoder"), (json.JSONEncoder, "iterencode")]
    places += [(sparse.linalg, "cg")]
    changed = [vars(owner)[name] for owner, name in places]
    third_party_patches.watch()()  # of this, and of the fixture's
    for (owner, name), value in zip(places, changed, strict=True):
        assert vars(owner)[name] is not value
        assert not hasattr(vars(owner)[name], "__wrapped__")
    with pytest.raises(TypeError, match="not JSON"):
        json.dumps([lazy.full(LARGE, 0.5).max()])


WRITTEN: dict[str, Callable[[Any], str]] = {
    "number": lambda s: json.dumps(s),
    "in lists and dicts": lambda s: json.dumps({"a": [s, (s, 1)], "b": {"c": s}, "d": None}),
    "as a key": lambda s: json.dumps({s: s}),
    "indented": lambda s: json.dumps({"a": [s], s: 1}, indent=2),
    "to a file": lambda s: (lambda f: (json.dump([s, {"a": s}], f), f.getvalue())[1])(
        io.StringIO()
    ),
    "by a default": lambda s: json.dumps([s, 1j], default=str),
    "no JSON": lambda s: json.dumps([s], allow_nan=False),
}


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("value", [0.1, float("nan")])
def test_json_takes_lazy_floats(write: Callable[[Any], str], value: float) -> None:
    def outcome(np: Any) -> Any:
        try:
            return write(np.full(LARGE, value).max())
        except ValueError as error:
            return type(error)

    assert outcome(lazy) == outcome(numpy)


@pytest.mark.parametrize("indent", [None, 1])
def test_json_takes_no_other_numbers(indent: Any) -> None:
    for kind in (numpy.int64, numpy.float32):
        with pytest.raises(TypeError, match=f"of type {kind.__name__} is not JSON"):
            json.dumps([lazy.ones(LARGE, kind).max()], indent=indent)


def definite(np: Any) -> Any:
    a = np.sin(np.arange(150.0 * 150)).reshape(150, 150)
    return a @ a.T + 300.0 * np.eye(150)


SOLVED: dict[str, Callable[[Any, Any], Any]] = {
    "cg": lambda np, a: sparse.linalg.cg(a, a[0], rtol=1e-12)[0],
    "lsqr": lambda np, a: sparse.linalg.lsqr(a, a[0], atol=1e-13, btol=1e-13)[0],
    "eigsh": lambda np, a: sparse.linalg.eigsh(a, k=2, v0=np.ones(150), return_eigenvectors=False),
    "operator": lambda np, a: sparse.linalg.aslinearoperator(a) @ a[0],
}


@pytest.mark.parametrize("solve", SOLVED.values(), ids=SOLVED)
def test_solvers_take_dense_lazy_matrices(solve: Callable[[Any, Any], Any]) -> None:
    made, expected = solve(lazy, definite(lazy)), solve(numpy, definite(numpy))
    numpy.testing.assert_allclose(numpy.asarray(made), expected, rtol=1e-8, atol=1e-12)


def data(np: Any) -> Any:
    return np.sin(np.arange(float(LARGE)))


FRAMES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "rows of numbers": lambda pd, np, d: pd.DataFrame(
        [{"a": data(np).sum(), "n": (data(np) > 0).sum()}, {"a": data(np).max(), "n": 3}]
    ),
    "columns of numbers": lambda pd, np, d: pd.DataFrame({"a": [data(np).sum()], "b": data(np)[1]}),
    "series of numbers": lambda pd, np, d: pd.Series([data(np).sum(), data(np).max()]),
    "series by names": lambda pd, np, d: pd.Series({"a": data(np).sum(), "b": data(np).max()}),
    "new column": lambda pd, np, d: d.assign(c=data(np), s=data(np).sum()),
    "element": lambda pd, np, d: (
        d.__setitem__("z", 1.0),
        d.at.__setitem__((3, "z"), data(np).max()),
        d,
    ),
    "rows by mask": lambda pd, np, d: d[data(np) > 0.5],
    "rows by mask and series": lambda pd, np, d: d[(data(np) > 0.5) & (d["k"] == 1)],
    "loc": lambda pd, np, d: (d.loc[data(np) > 0.5], d.loc[np.argmax(data(np)), "a"]),
    "written by mask": lambda pd, np, d: (d.loc.__setitem__((data(np) > 0, "a"), 0.0), d),
    "iloc": lambda pd, np, d: (d.iloc[np.argmax(data(np))], d.iloc[: np.argmax(data(np))]),
    "element by index": lambda pd, np, d: d["a"][np.argmax(data(np))],
    "head": lambda pd, np, d: d.head(np.argmax(data(np))),
    "groups": lambda pd, np, d: d.groupby((data(np) > 0).astype(int)).sum(),
    "operator": lambda pd, np, d: d[["a"]] * data(np)[:, None],
    "comparison": lambda pd, np, d: (d["a"] > data(np), d[["a"]] > data(np)[:, None]),
    "function": lambda pd, np, d: np.maximum(d["a"], data(np)),
    "unique": lambda pd, np, d: (pd.unique(data(np) > 0), pd.factorize(data(np) > 0)[0]),
    "index": lambda pd, np, d: d.set_index(data(np)),
    "map": lambda pd, np, d: d["a"][:5].map(lambda v: v * data(np).sum()),
    "apply": lambda pd, np, d: d.apply(lambda c: np.sum(c.values * data(np))),
    "replace": lambda pd, np, d: d["k"].replace(data(np).max() * 0 + 1, 9),
    "no such key": lambda pd, np, d: d[data(np)[:3].sum()],
}


@pytest.mark.parametrize("program", FRAMES.values(), ids=FRAMES)
def test_frames(program: Callable[[Any, Any, Any], Any]) -> None:
    """The same types and dtypes as with NumPy's arrays, and the same exceptions."""
    pd = pytest.importorskip("pandas")

    def run(np: Any) -> Any:
        frame = pd.DataFrame({"a": numpy.arange(float(LARGE)), "k": numpy.arange(LARGE) % 3})
        try:
            made = program(pd, np, frame)
        except KeyError as error:
            return [type(error)]
        return list(made) if type(made) is tuple else [made]

    for made, expected in zip(run(lazy), run(numpy), strict=True):
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(made, expected, check_exact=False)
        elif isinstance(expected, pd.Series):
            pd.testing.assert_series_equal(made, expected, check_exact=False)
        elif isinstance(expected, numpy.ndarray | float):
            numpy.testing.assert_allclose(made, expected)
        else:
            assert made is expected
