"""Every form of a convolution gives what the reference does, whichever is the fastest."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lazytensor.backends.xla.convolution import choice
from lazytensor.backends.xla.convolution import forms as convolution
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.runtime import cost_model, disk_cache
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings
from tests.core.tiers import fetched, let_the_host_be_better, let_xla_be_better

ROWS = (0, 3, 1, 2)
FORWARD: dict[str, Any] = {"strides": (2, 1), "padding": ((1, 1), (0, 2))}
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "forward": ((2, 3, 7, 6), (4, 3, 3, 2), FORWARD),
    "dilated": ((2, 3, 9, 8), (4, 3, 3, 2), FORWARD | {"rhs_dilation": (2, 3)}),
    "pointwise": ((2, 3, 5, 5), (4, 3, 1, 1), {"strides": (2, 2), "padding": ((0, 0), (0, 0))}),
    "line": ((2, 3, 9), (4, 3, 4), {"strides": (2,), "padding": ((3, 1),)}),
    "gradient of the data": (
        (2, 4, 4, 5), (4, 3, 3, 2),
        {
            "strides": (1, 1), "padding": ((1, 2), (1, 0)), "lhs_dilation": (2, 1),
            "reversal": (True, True), "dimensions": ((0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 2, 3)),
        },
    ),
    "cropped": (
        (2, 4, 6, 6), (4, 3, 1, 2),
        {"strides": (1, 1), "padding": ((-1, -2), (0, -1)), "reversal": (True, True),
         "dimensions": ((0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 2, 3))},
    ),
    "gradient of the kernel": (
        (2, 3, 7, 6), (2, 4, 4, 7),
        {
            "strides": (1, 1), "padding": ((1, 0), (0, 2)), "rhs_dilation": (2, 1),
            "dimensions": ((1, 0, 2, 3),) * 3,
        },
    ),
    "rows": (
        (2, 7, 6, 3), (3, 2, 3, 4),
        FORWARD | {"dimensions": (ROWS, (3, 2, 0, 1), ROWS)},
    ),
    "rows, gradient of the data": (
        (2, 4, 5, 4), (3, 2, 3, 4),
        {"strides": (1, 1), "padding": ((1, 2), (1, 0)), "lhs_dilation": (2, 1),
         "reversal": (True, True), "dimensions": (ROWS, (2, 3, 0, 1), ROWS)},
    ),
    "rows, gradient of the kernel": (
        (2, 7, 6, 3), (2, 4, 7, 4),
        {"strides": (1, 1), "padding": ((1, 0), (0, 2)), "rhs_dilation": (2, 1),
         "dimensions": ((3, 0, 1, 2), (3, 0, 1, 2), (2, 3, 0, 1))},
    ),
    "rows, pointwise": (
        (2, 5, 5, 3), (1, 1, 3, 4),
        {"strides": (2, 2), "padding": ((0, 0), (0, 0)), "dimensions": (ROWS, (3, 2, 0, 1), ROWS)},
    ),
    "lines": (
        (2, 3, 7, 6), (4, 3, 3, 2),
        {"strides": (1, 2), "padding": ((1, 3), (0, 2)), "rhs_dilation": (2, 1)},
    ),
    "lines of rows": (
        (2, 7, 6, 3), (3, 2, 3, 4),
        {"strides": (1, 1), "padding": ((1, 1), (0, 2)), "dimensions": (ROWS, (3, 2, 0, 1), ROWS)},
    ),
    "lines, gradient of the data": (
        (2, 4, 5, 4), (4, 3, 3, 2),
        {"strides": (1, 1), "padding": ((1, 2), (1, 0)), "lhs_dilation": (1, 2),
         "reversal": (True, True), "dimensions": ((0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 2, 3))},
    ),
}  # fmt: skip
FORMS = {
    "gradient of the data": 4, "cropped": 4, "rows": 4, "rows, gradient of the data": 3,
    "rows, gradient of the kernel": 3, "lines": 6,
    "lines, gradient of the data": 5, "lines of rows": 5,
}  # fmt: skip
"""Of six, where there are fewer or more than five."""
MET: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "one place": ((2, 3, 1, 1), (4, 3, 3, 5), {"strides": (1, 1), "padding": ((1, 1), (2, 2))}),
    "far strides": ((1, 2, 3), (2, 2, 2), {"strides": (4,), "padding": ((7, 9),)}),
    "taps apart": (
        (1, 2, 3), (2, 2, 4), {"strides": (1,), "padding": ((6, 1),), "rhs_dilation": (3,)}
    ),
    "stretched": (
        (1, 2, 2, 3), (3, 2, 3, 3),
        {"strides": (1, 1), "padding": ((4, 2), (3, 5)), "lhs_dilation": (3, 2),
         "reversal": (True, False)},
    ),
    "nothing": ((1, 2, 2), (2, 2, 2), {"strides": (1,), "padding": ((6, -3),)}),
    "groups": (
        (1, 4, 1), (4, 2, 3), {"strides": (1,), "padding": ((3, 1),), "feature_groups": 2}
    ),
    "gradient of one place": (
        (2, 1, 1, 3), (2, 1, 1, 4),
        {"strides": (1, 1), "padding": ((1, 1), (1, 1)),
         "dimensions": ((3, 0, 1, 2), (3, 0, 1, 2), (2, 3, 0, 1))},
    ),
}  # fmt: skip
"""Taps of the kernel, or places of the result, meet nothing but padding."""
DEPTHWISE: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "each feature": ((2, 3, 7, 6), (3, 1, 3, 2), FORWARD | {"feature_groups": 3}),
    "two of each": (
        (2, 7, 6, 3), (3, 2, 1, 6),
        FORWARD | {"feature_groups": 3, "dimensions": (ROWS, (3, 2, 0, 1), ROWS)},
    ),
    "pairs": (
        (2, 7, 6, 6), (3, 2, 2, 9),
        FORWARD | {"feature_groups": 3, "dimensions": (ROWS, (3, 2, 0, 1), ROWS)},
    ),
    "one feature": ((2, 1, 7, 6), (4, 1, 3, 2), FORWARD),
    "gradient of each feature's data": (
        (2, 4, 5, 3), (3, 2, 3, 1),
        {"strides": (1, 1), "padding": ((1, 2), (1, 0)), "lhs_dilation": (2, 1),
         "rhs_dilation": (1, 2), "feature_groups": 3, "reversal": (True, True),
         "dimensions": (ROWS, (2, 3, 0, 1), ROWS)},
    ),
    "gradient of each feature's kernel": (
        (2, 3, 7, 6), (2, 3, 4, 7),
        {"strides": (1, 1), "padding": ((1, 0), (0, 2)), "rhs_dilation": (2, 1),
         "batch_groups": 3, "dimensions": ((1, 0, 2, 3),) * 3},
    ),
    "gradient of two kernels of each": (
        (2, 7, 6, 3), (2, 4, 7, 6),
        {"strides": (1, 1), "padding": ((1, 0), (0, 2)), "rhs_dilation": (2, 1),
         "batch_groups": 3, "dimensions": ((3, 0, 1, 2), (3, 0, 1, 2), (2, 3, 0, 1))},
    ),
}  # fmt: skip
"""Each feature has kernels of its own."""
SPECIAL = MET | DEPTHWISE


@pytest.mark.parametrize("case", SPECIAL)
def test_special_cases(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, kernel, attrs = SPECIAL[case]
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(s) for s in (shape, kernel))

    def computed(tier: str) -> np.ndarray:
        monkeypatch.setattr(settings, "tier", tier)
        cache.clear()
        return fetch(ops.convolution(leaf(x), leaf(w), **attrs))

    np.testing.assert_allclose(computed("compile"), computed("interpret"), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_all_forms_agree(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, kernel, attrs = CASES[case]
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(s) for s in (shape, kernel))
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(convolution, "WORTH", 0)
    monkeypatch.setattr(convolution, "KNOWN_MATRIX_ELEMENTS_BOUND", 0)
    tried: list[str] = []

    def computed() -> np.ndarray:
        cache.clear()
        return fetch(ops.convolution(leaf(x), leaf(w), **attrs))

    def take(
        name: str, type: Any, operands: Any, forms: Mapping[str, Any], *_: Any, **__: Any
    ) -> str:
        untried = [form for form in forms if form not in tried]
        tried.append(untried[0])
        left.extend(untried[1:])
        return untried[0]

    monkeypatch.setattr(settings, "tier", "interpret")
    expected = computed()
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(choice, "fastest", take)
    left = ["first"]
    while left:
        left.clear()
        np.testing.assert_allclose(computed(), expected, rtol=1e-9, atol=1e-12, err_msg=str(tried))
    assert tried[0] == "rows"
    assert len(tried) == FORMS.get(case, 5)


def test_what_was_measured_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAZYTENSOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(settings, "disk", True)
    type = tensor_type(F64, (64,))
    made: list[str] = []

    def form(times: int) -> Any:
        def lower(e: Any, type: Any, x: Any) -> Any:
            made.append("lowered")
            for _ in range(times):
                x = e.op("cosine", type, x)
            return x

        return lower

    forms = {"slow": form(200), "quick": form(1)}
    choice._known.cache_clear()
    assert choice.fastest("test", type, (type,), forms, {}) == "quick"
    assert len(made) == 2
    choice._known.cache_clear()  # another process
    assert choice.fastest("test", type, (type,), forms, {}) == "quick"
    assert len(made) == 2
    (file,) = disk_cache.folder().glob("choices-*.json")
    file.write_text("{")
    choice._known.cache_clear()
    assert choice.fastest("test", type, (type,), forms, {}) == "quick"
    assert len(made) == 4
    disk_cache.clear()
    choice._known.cache_clear()
    assert choice.fastest("test", type, (type,), forms, {}) == "quick"
    assert len(made) == 6
    choice._known.cache_clear()


@pytest.mark.one_memory
@pytest.mark.parametrize("better", [let_xla_be_better, let_the_host_be_better])
def test_forms_are_likely_in_the_background_and_measured_once_both_tiers_are_timed(
    better: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the host is faster than the likely forms: the fastest ones may beat it."""
    monkeypatch.setenv("LAZYTENSOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(settings, "disk", True)
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(cost_model, "COMPILING_SHARE", 0.0)
    better(monkeypatch)
    choice._known.cache_clear()
    cache.clear()
    x, w = np.ones((4, 8, 24, 24)), np.ones((8, 8, 3, 3))
    attrs: dict[str, Any] = {"strides": (1, 1), "padding": ((1, 1), (1, 1))}

    def run() -> np.ndarray:
        return fetched(ops.convolution(leaf(x), leaf(w), **attrs))

    first = run()
    (entry,) = cache.entries()
    run()
    assert entry.executable is not None
    assert entry.executable.is_provisional
    assert not list(tmp_path.glob("*.json")) + list(tmp_path.glob("*.xla"))
    for _ in range(100):  # until both tiers are timed
        np.testing.assert_allclose(run(), first, rtol=1e-12)
        if not entry.executable.is_provisional:
            break
    assert not entry.executable.is_provisional
    assert len(list(tmp_path.glob("*.json"))) == len(list(tmp_path.glob("*.xla"))) == 1
    choice._known.cache_clear()
