"""Programs as graphs: as plain data, for Graphviz, and as one self-contained page of HTML."""

from __future__ import annotations

import html
import json
import os
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import PARAMETER, Attrs, Op, element
from lazytensor.core.ir.program import INPUTS, Program, shown
from lazytensor.core.ir.recording import Place
from lazytensor.inspection.exchanges import split
from lazytensor.inspection.explanation import where
from lazytensor.inspection.source import source

COLOURS: Final = {"parameter": "#cfe8cf", "scalar": "#eeeeee", "operation": "#dbe7f7"}
"""Per kind of vertex: its fill colour in Graphviz."""
SPLIT_COLOURS: Final = ("#f6c9c0", "#fbe3a6", "#c9e7b0", "#b4e1e6", "#d3ccf2", "#f3c6e4")
"""Fill colours of vertices in Graphviz. Each sharding of a program gets the next one."""


class Vertex(NamedTuple):
    """An input or an operation of a program, or of a composite's body.

    `composite`: the composites around it, the outermost first, each with a number. `output`:
    whether it is a result of the program. `sharding`: how it is split over devices, where the
    program says it, or XLA of its result; "" for others.
    """

    number: int
    kind: str
    op: str
    type: str
    attributes: str
    operands: tuple[int, ...]
    place: Place | None
    module: str
    composite: tuple[str, ...]
    output: bool = False
    sharding: str = ""


class _Origin(NamedTuple):
    """A vertex's data from its instruction, or from the composite's instruction."""

    place: Place | None
    module: str
    composite: tuple[str, ...] = ()


Results = tuple[int, ...]
"""The vertices of an instruction's results."""


class _Flat:
    """A program whose composites are replaced by their bodies."""

    def __init__(self, program: Program) -> None:
        self.vertices: list[Vertex] = []
        n = len(program.instructions)
        origins = map(_Origin, program.places or [None] * n, program.modules or [""] * n)
        results = self._add(program, list(origins), None)
        for number in {number for i in program.outputs for number in results[i]}:
            self.vertices[number] = self.vertices[number]._replace(output=True)
        for index, sharding in split(program).items():
            for number in results[index]:
                said = self.vertices[number]._replace(sharding=str(sharding))
                self.vertices[number] = said

    def _add(
        self, program: Program, origins: Sequence[_Origin], inputs: Results | None
    ) -> list[Results]:
        """Add all instructions; `inputs` are the vertices of a body's parameters."""
        results: list[Results] = []
        given = iter(inputs or ())
        lines = program.instructions
        for (op, operands, attrs, type), origin in zip(lines, origins, strict=True):
            sources = tuple(number for j in operands for number in results[j])
            if op is PARAMETER and inputs is not None:
                results.append((next(given),))
            elif op is element:  # a primitive with several results is one vertex
                results.append((sources[attrs[0] % len(sources)],))
            elif isinstance(op, Composite):
                types = tuple(lines[j][3] for j in operands)
                body = op.program(types, op.attrs_of(attrs))
                results.append(self._add_body(op.name, body, origin, sources))
            else:
                results.append(self._add_vertex(op, attrs, type, sources, origin))
        return results

    def _add_body(self, name: str, body: Program, origin: _Origin, sources: Results) -> Results:
        composite = (*origin.composite, f"{name} {len(self.vertices)}")
        origins = [origin._replace(composite=composite)] * len(body.instructions)
        results = self._add(body, origins, sources)
        return tuple(number for j in body.outputs for number in results[j])

    def _add_vertex(
        self, op: Op, attrs: Attrs, type: Any, sources: Results, origin: _Origin
    ) -> Results:
        said = ", ".join(f"{k}={shown(v)}" for k, v in zip(op.attributes, attrs, strict=True))
        kind = "parameter" if op is PARAMETER else "scalar" if op in INPUTS else "operation"
        vertex = Vertex(len(self.vertices), kind, op.name, shown(type), said, sources, *origin)
        self.vertices.append(vertex)
        return (vertex.number,)


def vertices(program: Program) -> list[Vertex]:
    """All vertices of the program, composites replaced by their bodies, operands before uses."""
    return _Flat(program).vertices


def record(program: Program) -> list[dict[str, Any]]:
    """The vertices as plain data, with the user's lines and the keys for grouping."""
    rows = []
    for vertex in vertices(program):
        found = None if vertex.place is None else source(*vertex.place)
        line = "" if found is None else where(found)
        rows.append(
            vertex._asdict()
            | {"place": line, "source": "" if found is None else found.text}
            | {"function": _function(vertex.place), "composite": list(vertex.composite)}
        )
    return rows


def _function(place: Place | None) -> str:
    return "" if place is None else place[0].co_qualname


def dot(program: Program) -> str:
    """The graph in Graphviz's language, a cluster for each composite."""
    found = vertices(program)
    lines = ["digraph program {", '  node [shape=box, style=filled, fontname="monospace"];']
    names = dict.fromkeys(v.sharding for v in found if v.sharding)
    colours = dict(zip(names, cycle(SPLIT_COLOURS), strict=False))
    lines += _clusters(found, (), "  ", colours)
    lines += [f"  {j} -> {v.number};" for v in found for j in v.operands]
    return "\n".join([*lines, "}"])


def _clusters(
    found: list[Vertex], inside: tuple[str, ...], indent: str, colours: Mapping[str, str]
) -> Iterator[str]:
    depth = len(inside)
    within = [v for v in found if v.composite[:depth] == inside]
    for vertex in within:
        if len(vertex.composite) == depth:
            label = json.dumps(f"{vertex.op}\n{vertex.type}")
            wide = ", penwidth=3" if vertex.output else ""
            colour = colours.get(vertex.sharding, COLOURS[vertex.kind])
            yield f'{indent}{vertex.number} [label={label}, fillcolor="{colour}"{wide}];'
    for name in dict.fromkeys(v.composite[depth] for v in within if len(v.composite) > depth):
        yield f"{indent}subgraph {json.dumps(f'cluster {name}')} {{"
        yield f"{indent}  label={json.dumps(name.split()[0])};"
        yield from _clusters(within, (*inside, name), f"{indent}  ", colours)
        yield f"{indent}}}"


def page(program: Program) -> str:
    """One self-contained page: pan, zoom, search, groups, and each operation with its line."""
    # `<` is escaped because it could end the script element.
    data = json.dumps({"vertices": record(program), "text": str(program)}).replace("<", "\\u003c")
    folder = files("lazytensor.inspection") / "pages"
    parts = {name: (folder / f"graph.{name}").read_text() for name in ("html", "css", "js")}
    title = f"{program.size} operations"
    if program.cut_at is not None:
        title += f", cut at {where(source(*program.cut_at))}"
    filled = parts["html"].replace("{title}", html.escape(title))
    return (
        filled.replace("{css}", parts["css"]).replace("{js}", parts["js"]).replace("{data}", data)
    )


def show(program: Program, path: str | os.PathLike[str] | None, browser: bool) -> Path:
    """Write the page, to a temporary file if no path is given, and open it."""
    if path is None:
        descriptor, path = tempfile.mkstemp(prefix="lazytensor-", suffix=".html")
        os.close(descriptor)
    file = Path(path)
    file.write_text(page(program), encoding="utf-8")
    if browser:
        webbrowser.open(file.resolve().as_uri())
    return file


def frame(program: Program, height: int = 480) -> str:
    """The page in a frame, for notebooks."""
    inner = html.escape(page(program), quote=True)
    style = f"width: 100%; height: {height}px; border: 1px solid #ccc"
    return f'<iframe srcdoc="{inner}" style="{style}"></iframe>'
