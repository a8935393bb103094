"""Every form of a convolution gives what the reference does, whichever is the fastest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lazytensor.backends.xla import choice, convolution
from lazytensor.core import disk, ops
from lazytensor.core.cache import cache
from lazytensor.core.dtypes import F64
from lazytensor.core.op import leaf
from lazytensor.core.runtime import fetch
from lazytensor.core.settings import settings
from lazytensor.core.types import tensor_type

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
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_all_forms_agree(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, kernel, attrs = CASES[case]
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(s) for s in (shape, kernel))
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(convolution, "WORTH", 0)
    tried: list[str] = []

    def computed() -> np.ndarray:
        cache.clear()
        return fetch(ops.convolution(leaf(x), leaf(w), **attrs))

    def take(name: str, type: Any, operands: Any, forms: Mapping[str, Any], *_: Any) -> str:
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
    assert len(tried) == (4 if "reversal" not in attrs else 3)


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
    assert choice.fastest("test", type, (type,), forms) == "quick"
    assert len(made) == 2
    choice._known.cache_clear()  # another process
    assert choice.fastest("test", type, (type,), forms) == "quick"
    assert len(made) == 2
    (file,) = disk.folder().glob("choices-*.json")
    file.write_text("{")
    choice._known.cache_clear()
    assert choice.fastest("test", type, (type,), forms) == "quick"
    assert len(made) == 4
    choice._known.cache_clear()
