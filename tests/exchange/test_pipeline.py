"""The example: three frameworks, one program for a batch, and what their own kernels compute."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import torch

from benchmarks.program import example
from lazytensor import metrics, settings
from lazytensor.core.runtime.program_cache import cache
from tests.core.processes import run

ROWS = 2_000


def test_the_first_lines_of_the_page_are_one_program() -> None:
    page = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    said = run(program + "print(int(lazytensor.metrics.snapshot()['cuts']))\n", LAZYTENSOR_SMALL="")
    assert 0.0 <= float(said.stdout.split()[0]) <= 1.0
    assert said.stdout.split()[1:] == ["1"]


@pytest.mark.parametrize("what", ["score", "train"])
def test_one_program_compiled_once(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)  # another test may have left it there
    cache.clear()
    module = example("pipeline", numpy)
    reports, counts = {}, []
    for eager in (True, False):
        np, device, context = module.frameworks(eager)
        model = module.Surface().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        reports[eager] = []
        with context:
            for seed in range(4):
                metrics.reset()
                raw = module.quotes(ROWS, seed)
                if what == "score":
                    _, report = module.score(np, model, raw)
                else:
                    report = module.train(np, model, optimizer, raw)
                reports[eager].append(numpy.asarray(report))
                counts.append([metrics.snapshot()[n] for n in ("cuts", "compiles", "fallbacks")])
    numpy.testing.assert_allclose(reports[False], reports[True], rtol=1e-4)
    assert counts[:4] == [[0, 0, 0]] * 4
    assert counts[4:] == [[1, 1, 0]] + [[1, 0, 0]] * 3
