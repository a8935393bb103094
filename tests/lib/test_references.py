"""Each composition is documented, and gives what NumPy or SciPy give."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lazytensor.core.lib.pooling import window_counts
from lazytensor.core.settings import settings
from lazytensor.reuse.compositions import FOLDER, public, used
from lazytensor.reuse.source import parsed
from tests.lib.compute import call
from tests.lib.more_samples import CALLS, WINDOW_COUNTS
from tests.lib.samples import SAMPLES, Sample
from tests.sweeps import one_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")


ELSEWHERE = {
    "activations": "tests/pytorch/test_opinfo.py",
    "filters": "tests/tensorflow_frontend/test_images.py",
    "implicit_gradients": "tests/pytorch/test_reparametrization.py",
    "matrices": "tests/pytorch/test_opinfo.py",
    "optimizers": "tests/tensorflow_frontend/test_updates.py",
    "pooling": "tests/pytorch/test_opinfo.py",
    "quantiles": "tests/numpy/test_functions.py",
    "recurrent": "tests/pytorch/test_recurrent.py",
    "resampling": "tests/pytorch/test_opinfo.py",
    "scattering": "tests/pytorch/test_opinfo.py",
    "random": "tests/pytorch/test_randomness.py",
    "numerics": "tests/numpy/test_ufunc.py",
    "histograms": "tests/pytorch/test_histograms.py",
}
"""Where functions are tested that have no reference here: a framework's, with torch's or TF's."""


def test_every_composition_is_tested_here_or_by_a_framework() -> None:
    here = sorted(Path(__file__).parent.glob("*.py"))
    seen = {name for name in used(here) if name[1]}
    rest = {module for module, _ in public() - seen}
    assert rest <= ELSEWHERE.keys()
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())


@pytest.mark.parametrize(("function", "args", "reference"), CALLS)
def test_it_is_the_reference_too(function: Any, args: tuple[Any, ...], reference: Any) -> None:
    test_it_is_the_reference(Sample(function, args, reference))


@pytest.mark.parametrize(("shape", "windows", "ceil", "expected"), WINDOW_COUNTS)
def test_windows_are_counted(shape: Any, windows: Any, ceil: bool, expected: Any) -> None:
    assert window_counts(shape, windows, ceil) == expected


def _names() -> list[str]:
    seen: Counter[str] = Counter()
    names = []
    for sample in SAMPLES:
        seen[sample.name] += 1
        names.append(f"{sample.name}-{seen[sample.name]}")
    return names


def _lists(made: Any) -> list[np.ndarray]:
    return [*map(np.asarray, made)] if isinstance(made, tuple | list) else [np.asarray(made)]


@one_in(2)
@pytest.mark.parametrize("sample", SAMPLES, ids=_names())
def test_it_is_the_reference(sample: Sample) -> None:
    found = call(sample.function, *sample.args, **sample.attrs)
    expected = _lists(sample.reference(*sample.args, **sample.attrs))
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype.kind == theirs.dtype.kind
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("module", sorted({module for module, _ in public()}))
def test_it_says_what_it_gives(module: str) -> None:
    tree = parsed(FOLDER / f"{module}.py")
    assert ast.get_docstring(tree)
    bare = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert not bare, f"public functions of core/lib/{module}.py without a docstring"
