"""Metrics: what is counted, that it only grows, that it can be set to zero."""

from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import lazytensor
from lazytensor.core import binaries, ops
from lazytensor.core.ir.op import leaf
from lazytensor.core.observe import metrics
from lazytensor.core.observe.metrics import COUNTS, SECONDS
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import array


def work() -> None:
    x = array(np.arange(4.0))
    for _ in range(3):
        x[1:] = x[1:] * 2.0 + 1.0
        sync()
        settings.tier = {"compile": "interpret", "interpret": "compile"}[settings.tier]


def test_the_snapshot_has_every_key() -> None:
    assert list(metrics.snapshot()) == [*COUNTS, *(f"{name}_seconds" for name in SECONDS)]


def test_every_metric_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    for table, unit in ((COUNTS, ""), (SECONDS, "_seconds")):
        for name, text in table.items():
            assert f"| `{name}{unit}` | {text} |" in page


def test_prometheus_can_read_the_text() -> None:
    work()
    before = metrics.snapshot()
    families = list(text_string_to_metric_families(metrics.prometheus()))
    assert {family.type for family in families} == {"counter"}
    assert all(family.documentation for family in families)
    values = {s.name: s.value for family in families for s in family.samples}
    assert len(values) == len(before)
    for name in before.keys() - {"recording_seconds"}:
        assert values[f"lazytensor_{name}_total"] == before[name]


def test_tracers_hear_of_what_the_timers_add() -> None:
    heard: list[tuple[str, float, float]] = []
    metrics.tracers.append(lambda *span: heard.append(span))
    try:
        work()
    finally:
        metrics.tracers.clear()
    for name in {name for name, *_ in heard}:
        total = sum(end - start for heard_name, start, end in heard if heard_name == name)
        assert total == pytest.approx(metrics.seconds[name])
    assert {name for name, *_ in heard} >= {"cutting", "compiling", "running", "interpreting"}


def test_numbers_only_grow() -> None:
    before = metrics.snapshot()
    for _ in range(4):
        work()
        after = metrics.snapshot()
        shrunk = [k for k in after if after[k] < before[k] and k != "recording_seconds"]
        assert not shrunk
        before = after
    for name in ("nodes", "cuts", "compiles", "interpreted", "cache_hits"):
        assert before[name] > 0, name
    for name in ("recording", "cutting", "lowering", "compiling", "running", "interpreting"):
        assert before[f"{name}_seconds"] > 0, name


def test_counts_are_exact() -> None:
    x = leaf(np.arange(4.0))
    start = metrics.snapshot()["nodes"]
    y = ops.add(ops.sin(x), ops.scalar(1.0, x.type.dtype))
    assert metrics.snapshot()["nodes"] - start == 3
    fetch(y)
    fetch(ops.add(ops.sin(x), ops.scalar(2.0, x.type.dtype)))
    fetch(ops.add(ops.sin(x), ops.scalar(3.0, x.type.dtype)))
    shown = metrics.snapshot()
    assert [shown["cuts"], shown["compiles"], shown["cache_hits"]] == [3, 2, 1]


def test_reset_starts_from_zero() -> None:
    work()
    metrics.reset()
    shown = metrics.snapshot()
    assert all(shown[name] == 0 for name in COUNTS)
    assert all(shown[f"{name}_seconds"] == 0 for name in SECONDS)
    assert str(lazytensor.explain()) == "nothing was cut yet"


def test_the_report_has_a_line_for_everything() -> None:
    work()
    said = metrics.report().splitlines()
    modes, lines = said[: len(metrics.modes)], said[len(metrics.modes) :]
    assert modes[0] == f"hot path  {binaries.mode}"
    assert [line.split()[0] for line in lines] == [
        name.removesuffix("_seconds") for name in metrics.snapshot()
    ]
    assert any(line.split() == ["cuts", "3"] for line in lines)
    assert any(line.startswith("compiling") and line.endswith(" s") for line in lines)


def test_the_shares_of_one_run_are_not_more_than_the_whole() -> None:
    import time

    start = time.perf_counter()
    work()
    shown = metrics.snapshot()
    elapsed = time.perf_counter() - start
    assert sum(shown[f"{name}_seconds"] for name in SECONDS.keys() - {"recording"}) <= elapsed
