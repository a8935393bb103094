"""Which files get the replacement of a package, and by which ways of importing it."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy
import pytest

from lazytensor.swap import swap
from lazytensor.swap.ownership import is_users_file

# Statements, and what is true after them when `numpy` was swapped.
FORMS = [
    ("import numpy", "numpy.MARK"),
    ("import numpy as np", "np.MARK"),
    ("from numpy import MARK", "MARK"),
    ("from numpy import array as a, MARK", "MARK and a is real.array"),
    ("from numpy import *", "MARK"),
    ("import numpy.linalg", "numpy.MARK and numpy.linalg.MARK"),
    ("import numpy.linalg as la", "la.MARK"),
    ("from numpy import linalg", "linalg.MARK"),
    ("from numpy.linalg import MARK", "MARK"),
    ("import numpy.testing as t", "t is real.testing"),
    ("from numpy.testing import assert_allclose as a", "a is real.testing.assert_allclose"),
    ("import numpy.random", "numpy.MARK and numpy.random is real.random"),
    ("import importlib; np = importlib.import_module('numpy')", "np.MARK"),
    ("from importlib import import_module as i; la = i('numpy.linalg')", "la.MARK"),
    ("np = __import__('numpy')", "np.MARK"),
    ("la = __import__('numpy.linalg', fromlist=['MARK'])", "la.MARK"),
    ("def f():\n    import numpy as np\n    return np\nnp = f()", "np.MARK"),
    ("names = {}; exec('import numpy', names); np = names['numpy']", "np.MARK"),
    ("import sys; import numpy", "sys.modules['numpy'] is real"),
]


def stand_in(name: str) -> ModuleType:
    """A module that has a mark, and the rest from the real one."""
    module = ModuleType(name)
    module.MARK = True  # type: ignore[attr-defined]
    module.__all__ = ["MARK"]  # type: ignore[attr-defined]
    module.__getattr__ = lambda name: getattr(numpy, name)  # type: ignore[method-assign]
    return module


@pytest.fixture
def swapped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = stand_in("replacement")
    module.linalg = stand_in("replacement.linalg")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "replacement", module)
    undo = swap("numpy", "replacement")
    yield
    undo()


def names_after(statements: str, **known: object) -> dict[str, object]:
    names: dict[str, object] = {"real": numpy, **known}
    exec(compile(statements, "statements", "exec"), names)
    return names


@pytest.mark.usefixtures("swapped")
@pytest.mark.parametrize(("statements", "truth"), FORMS)
def test_main_gets_the_replacement(statements: str, truth: str) -> None:
    assert eval(truth, names_after(statements, __name__="__main__"))


@pytest.mark.usefixtures("swapped")
@pytest.mark.parametrize("statements", ["import numpy", "import numpy.linalg as numpy"])
@pytest.mark.parametrize(
    ("file", "mine"),
    [
        ("/home/me/project/model.py", True),
        ("/home/me/project/package/__init__.py", True),
        ("/home/me/project/site-packages/package/__init__.py", False),
        ("/usr/lib/python3/dist-packages/package.py", False),
        (importlib.__file__, False),
        (is_users_file.__wrapped__.__code__.co_filename, False),
        (__file__, True),
    ],
)
def test_the_file_says_whose_code_it_is(statements: str, file: str, mine: bool) -> None:
    names = names_after(statements, __name__="some.module", __file__=file)
    assert hasattr(names["numpy"], "MARK") is mine


@pytest.mark.usefixtures("swapped")
def test_what_neither_has_is_missed_as_in_numpy() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nothing' from 'numpy'"):
        names_after("from numpy import nothing", __name__="__main__")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'numpy\.nothing'"):
        names_after("import numpy.nothing", __name__="__main__")


@pytest.mark.usefixtures("swapped")
def test_a_failed_import_shows_no_frame_of_ours() -> None:
    for statement in ("import nothing_like_it", "import importlib; importlib.import_module('no')"):
        with pytest.raises(ModuleNotFoundError) as caught:
            names_after(statement, __name__="__main__")
        files = {Path(str(entry.path)).name for entry in caught.traceback}
        assert not files & {"imports.py", "<lazytensor importlib._bootstrap>"}


def test_the_end_of_a_swap_puts_everything_back() -> None:
    before = __import__, importlib.import_module
    undo = swap("numpy", "replacement")
    assert (__import__, importlib.import_module) != before
    undo()
    assert (__import__, importlib.import_module) == before


def test_a_link_does_not_hide_an_installed_package(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "package"
    package.mkdir(parents=True)
    (tmp_path / "link").symlink_to(package)
    assert not is_users_file(str(tmp_path / "link" / "module.py"))
    assert is_users_file(str(tmp_path / "package" / "module.py"))
