"""Each composition is documented, and gives what NumPy or SciPy give."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import numpy as np
import pytest

from lazytensor.core.settings import settings
from lazytensor.reuse.compositions import FOLDER, public
from lazytensor.reuse.source import parsed
from tests.lib.compute import call
from tests.lib.samples import SAMPLES, Sample


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")


def _names() -> list[str]:
    seen: Counter[str] = Counter()
    names = []
    for sample in SAMPLES:
        seen[sample.name] += 1
        names.append(f"{sample.name}-{seen[sample.name]}")
    return names


def _lists(made: Any) -> list[np.ndarray]:
    return [*map(np.asarray, made)] if isinstance(made, tuple | list) else [np.asarray(made)]


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
