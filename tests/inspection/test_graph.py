"""The page of a program's graph, looked at in a real browser; Graphviz's text."""

import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import Program
from lazytensor.core.runtime.scheduler import sync
from lazytensor.inspection import graph

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def made() -> Program:
    x = leaf(np.ones((3, 4)))
    with lazytensor.scope("net.first"):
        y = ops.sin(x)
        with lazytensor.scope("net.first.inner"):
            y = ops.softmax(y, axis=1)
    with lazytensor.scope("net.<last>"):
        y = ops.multiply(ops.exp(y), ops.scalar(0.5, x.type.dtype))
    kept = Cell(ops.log(y))
    del y  # a name would keep it live
    sync()
    del kept
    return lazytensor.programs()[0]


def test_composites_are_opened_and_operands_come_first() -> None:
    program = made()
    found = graph.vertices(program)
    assert all(j < vertex.number for vertex in found for j in vertex.operands)
    assert [v.number for v in found] == list(range(len(found)))
    inside = [v for v in found if v.composite and v.kind == "operation"]
    assert {v.composite[0].split()[0] for v in inside} == {"softmax"}
    assert len(inside) > 3
    assert [v.op for v in found if v.output] == ["log"]
    modules = Counter(v.module for v in found if v.kind == "operation")
    assert modules == {"net.first": 1, "net.first.inner": len(inside), "net.<last>": 2, "": 1}


def test_lines_are_the_users() -> None:
    rows = graph.record(made())
    sine = next(row for row in rows if row["op"] == "sin")
    assert sine["place"].endswith(f"test_graph.py:{made.__code__.co_firstlineno + 3}")
    assert sine["source"] == "y = ops.sin(x)"
    assert sine["function"] == "made"
    assert json.loads(json.dumps(rows, default=str))


def test_results_of_which_there_are_several() -> None:
    x = leaf(np.ones((3, 4)))
    program = lazytensor.trace(lambda: Cell(ops.sort(ops.sin(x), ops.cos(x), axis=1)[1]))
    (last,) = (v for v in graph.vertices(program) if v.output)
    assert (last.op, last.kind) == ("sort", "operation")


def test_graphviz_text() -> None:
    program = made()
    text = program.dot()
    assert text.startswith("digraph program {")
    assert text.count("{") == text.count("}")
    edges = sum(len(vertex.operands) for vertex in graph.vertices(program))
    assert len(re.findall(r"^ *\d+ -> \d+;$", text, re.MULTILINE)) == edges
    assert 'subgraph "cluster softmax ' in text


def split() -> Program:
    mesh = lazytensor.Mesh((2,), ("x",))
    x = lazytensor.shard(np.ones((4, 6)), mesh, ("x",))
    y = lazytensor.shard(lnp.exp(x), mesh, (None, "x"))
    lazytensor.sync(y)
    del x, y
    return lazytensor.programs()[0]


def test_what_is_split_has_a_colour_for_each_way() -> None:
    program = split()
    found = {v.op: v.sharding for v in graph.vertices(program)}
    rows, columns = "Sharding(Mesh(x=2): x, -)", "Sharding(Mesh(x=2): -, x)"
    assert found == {"parameter": rows, "exp": "", "sharding_constraint": columns}
    text = program.dot()
    for colour in graph.SPLIT_COLOURS[:2]:
        assert text.count(colour) == 1
    style = (Path(graph.__file__).parent / "pages" / "graph.css").read_text()
    for number, colour in enumerate(graph.SPLIT_COLOURS):
        assert f".box.split{number} rect {{ fill: {colour}; }}" in style


def test_a_trace_says_how_its_inputs_are_split() -> None:
    mesh = lazytensor.Mesh((2,), ("x",))
    x = lazytensor.shard(np.ones((4, 6)), mesh, ("x",))
    assert "Sharding(Mesh(x=2): x, -)" in str(lazytensor.trace(lnp.exp, x))


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    path = made().show(tmp_path / "graph.html", browser=False)
    text = path.read_text()
    assert not re.search(r'(?:src|href)="|https?://(?!www\.w3\.org/2000/svg)|@import', text)
    assert "net.\\u003clast>" in text


def test_a_page_opens_in_the_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = made().show()
    assert opened == [path.as_uri()]
    assert path.parent == tmp_path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made().show(tmp_path_factory.mktemp("page") / "graph.html", browser=False)


def boxes(page: Path, address: str = "") -> tuple[list[tuple[str, ...]], str]:
    """The boxes that the browser draws, their class and rows, and all of the page."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run(
        [*command, f"{page.as_uri()}#{address}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    found = re.findall(
        r'<g class="(box[^"]*)".*?name".*?>(.*?)</text>.*?>(.*?)</text>', done.stdout
    )
    return [tuple(map(unescape, box)) for box in found], done.stdout


def test_the_browser_draws_every_vertex_but_scalars(page: Path) -> None:
    found, whole = boxes(page)
    program = lazytensor.trace(lambda: Cell(leaf(np.ones(3))))
    assert program.size == 0
    names = Counter(name for _, name, _ in found)
    assert names["sin"] == names["log"] == names["parameter"] == 1
    assert "slot" not in names
    assert ("box operation output", "log", "f64[3,4]") in found
    assert len(re.findall(r"<path ", whole)) >= len(found) - 1
    assert re.findall(r"<option>(.*?)</option>", whole) == [
        "nothing", "composite", "module", "function", "line",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        ("composite", {"softmax", "sin", "exp", "multiply", "log"}),
        ("module", {"net.first", "net.first.inner", "net.<last>"}),
        ("function", {"made"}),
    ],
)
def test_groups_are_one_box_each(grouping: str, expected: set[str], page: Path) -> None:
    found, _ = boxes(page, f"group={grouping}")
    names = [re.sub(r" \d+$", "", name) for _, name, _ in found]
    assert expected <= set(names)
    assert len(names) == len(set(names))


def test_search_marks_what_it_finds_and_shows_the_first(page: Path) -> None:
    found, whole = boxes(page, "find=ops.exp")  # in the source line of two operations
    hits = [name for style, name, _ in found if " hit" in style]
    assert sorted(hits) == ["exp", "multiply"]
    assert "2 found" in whole
    assert re.search(r"<th>source</th><td>y = ops.multiply\(ops.exp\(y\)", whole)
