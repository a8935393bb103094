"""The hot path runs compiled or as Python, never half and half, and gives the same results."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lazytensor.building import BuildError, hot_path
from lazytensor.core import binaries

PROGRAM = """
import sys, lazytensor, lazytensor.numpy as np
from lazytensor.core import binaries
x = np.arange(20_000.0)
x[1:-1] += np.sin(x[2:]) * 2.0 - x[:-2]
x += 1.0
print(float(x.sum()).hex())
print(binaries.mode)
print(type(sys.modules["lazytensor.core.ir.node"].__loader__).__name__)
print([line for line in str(lazytensor.metrics.report()).splitlines() if "hot path" in line])
"""


def printed(
    program: str, folder: Path = Path(binaries.PACKAGE).parent, **variables: str
) -> list[str]:
    """The lines that a program prints, with the package in this folder."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(folder), binaries.PURE: "", **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def ran(**variables: str) -> list[str]:
    """The lines that `PROGRAM` prints."""
    return printed(PROGRAM, LAZYTENSOR_SMALL="0", **variables)


def test_a_wish_that_is_no_flag_is_refused() -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        ran(LAZYTENSOR_PURE="maybe")
    assert "LAZYTENSOR_PURE: 1, true, on, yes" in raised.value.stderr


@pytest.mark.skipif(binaries.mode != binaries.COMPILED, reason="annotations are no types there")
def test_annotations_of_inner_functions_are_types() -> None:
    from lazytensor.frontends.numpy.ufuncs import calls

    with pytest.raises(TypeError, match="Argument 'x' has incorrect type"):
        calls.alone({}, repr)(3)


def test_no_call_looks_for_an_override() -> None:
    classes = re.compile(r"((?:@cython.*\n)*)cdef class (\w+).*:\n((?:    .*\n|\n)*)")
    open_to_overrides = {
        name
        for path in Path(binaries.PACKAGE).rglob("*.pxd")
        for decorators, name, body in classes.findall(path.read_text())
        if "cpdef" in body and "@cython.final" not in decorators
    }
    assert open_to_overrides == set()


def test_the_sources_give_what_the_binaries_give() -> None:
    value, mode, _, _ = ran()
    pure, pure_mode, loader, report = ran(LAZYTENSOR_PURE="1")
    assert pure == value
    assert pure_mode == "Python, as LAZYTENSOR_PURE is set"
    assert loader == "SourceFileLoader"
    assert pure_mode in report
    if mode == binaries.COMPILED:
        assert ran()[2] == "ExtensionFileLoader"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package's folder, with what a build has left in it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(binaries.PACKAGE, tmp_path / "lazytensor", ignore=ignored)
    return tmp_path


def mode_in(folder: Path) -> str:
    """The mode that the package in this folder says."""
    [mode] = printed("from lazytensor.core import binaries; print(binaries.mode)", folder)
    return mode


needs_binaries = pytest.mark.skipif(binaries.fault() is not None, reason="nothing is compiled here")


def change(stem: Path) -> None:
    """Change a module's source."""
    source = stem.with_suffix(".py")
    source.write_text(source.read_text() + "# changed\n")


def remove(stem: Path) -> None:
    """Remove a module's binary."""
    stem.with_name(stem.name + binaries.BINARY_SUFFIX).unlink()


def declare_no_more(stem: Path) -> None:
    """Remove the declarations that make a module one that is compiled; its binary stays."""
    stem.with_suffix(".pxd").unlink()


@needs_binaries
@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (change, "has changed since"),
        (remove, "is missing"),
        (declare_no_more, "is no longer compiled"),
    ],
)
def test_one_binary_that_is_not_todays_puts_all_aside(
    package: Path, harm: Callable[[Path], None], reason: str
) -> None:
    assert mode_in(package) == binaries.COMPILED
    harm(package / "lazytensor" / "core" / "ir" / "node")
    assert reason in mode_in(package)
    assert "lazytensor build" in mode_in(package)
    show = "from lazytensor.building import hot_path; import lazytensor.core.ir.node as node"
    done, file = printed(f"{show}; print(hot_path.is_done()); print(node.__file__)", package)
    assert done == "False"
    assert file.endswith(".py")


@needs_binaries
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "nothing is compiled"),
        ("{", "cannot be read"),
        (json.dumps({"suffix": ".cpython-39-other.so", "sources": {}}), "are for another one"),
    ],
    ids=["no manifest", "a broken manifest", "another Python"],
)
def test_a_manifest_that_does_not_serve_puts_all_aside(
    package: Path, text: str | None, reason: str
) -> None:
    manifest = package / "lazytensor" / Path(binaries.MANIFEST).name
    manifest.unlink() if text is None else manifest.write_text(text)
    assert reason in mode_in(package)


@needs_binaries
def test_a_module_that_no_build_has_seen_asks_for_a_build(package: Path) -> None:
    assert hot_path.is_done()
    (package / "lazytensor" / "core" / "errors.pxd").touch()
    said = printed("from lazytensor.building import hot_path; print(hot_path.is_done())", package)
    assert said == ["False"]


def test_a_failing_build_names_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("Cython")
    broken = tmp_path / "lazytensor" / "core"
    shutil.copytree(Path(binaries.__file__).parent, broken, ignore=shutil.ignore_patterns("*.so"))
    shutil.copytree(Path(hot_path.__file__).parent, tmp_path / "lazytensor" / "building")
    for path in broken.rglob("*.pxd"):
        path.unlink()
    (broken / "settings.pxd").write_text("this is not Cython\n")
    monkeypatch.setattr(binaries, "PACKAGE", str(tmp_path / "lazytensor"))
    monkeypatch.setattr(hot_path, "LOG", tmp_path / "log")
    with pytest.raises(BuildError, match=str(hot_path.LOG)):
        hot_path.build()
    assert "settings.pxd" in hot_path.LOG.read_text()
    assert not (tmp_path / "lazytensor" / Path(binaries.MANIFEST).name).exists()
