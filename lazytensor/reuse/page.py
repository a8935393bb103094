"""The report as one self-contained page of HTML: bars and tables, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from lazytensor.reuse.components import COMPARED, NAMES
from lazytensor.reuse.tables import percent


def page(record: Mapping[str, Any]) -> str:
    """The page of a report's record."""
    template = (files("lazytensor.reuse") / "report.html").read_text(encoding="utf-8")
    body = "\n".join(
        [
            *_lines(record["static"]),
            *_dynamic(record["dynamic"]),
        ]
    )
    return template.replace("{version}", escape(record["version"])).replace("{body}", body)


def _lines(found: Mapping[str, Any]) -> list[str]:
    shared = found["shared_lines"]
    rows = [
        (NAMES.get(name, name), {**shared, "own": f["lines"]},
         f"{percent(f['share'])} shared, {percent(f['strict_share'])} strictly")
        for name, f in found["frontends"].items()
    ]  # fmt: skip
    heads = ("", "ops supported", "rows", "lines an op", "core ops used", "compositions used")
    figures = [
        (
            NAMES.get(name, name),
            *(("not installed" if name in NAMES else "–", "–", "–")
            if f["supported"] is None
            else (f["supported"], f["rows"], f"{f['lines'] / f['supported']:.1f}")),
            len(f["ops"]),
            len(f["compositions"]),
        )
        for name, f in found["frontends"].items()
    ]  # fmt: skip
    users = [len(set(names) & set(COMPARED)) for names in found["compositions"].values()]
    every = len(COMPARED)
    figures.append(("by all", "", "", "", len(found["ops_in_all"]), ""))
    figures.append(("by the three frameworks", "", "", "", "", users.count(every)))
    figures.append(("by two of these", "", "", "", "", sum(n > 1 for n in users)))
    return ["<h2>Lines of code</h2>", _bars(rows), _table(heads, figures)]


def _dynamic(found: Mapping[str, Any]) -> list[str]:
    if not found["workloads"]:
        return []
    rows = [
        (f"{w['name']}, {NAMES[name]}",
         {"core": run["lines"].get("core", 0), "backend": run["lines"].get("backend", 0),
          "own": run["lines"].get(name, 0)},
         percent(run["share"]) + " own")
        for w in found["workloads"] for name, run in w["runs"].items()
    ]  # fmt: skip
    installed = [name for name, there in found["installed"].items() if there]
    missing = [NAMES[name] for name in found["installed"] if name not in installed]
    heads = ("", "programs equal", *(f"compiles, {NAMES[name]}" for name in installed))
    figures = [
        (w["name"], "yes" if w["equal"] else "no", *(w["runs"][n]["compiles"] for n in installed))
        for w in found["workloads"]
    ]
    made = ["<h2>Lines run by the same workloads</h2>", _bars(rows)]
    made += ["<h2>Programs and compiles</h2>", _table(heads, figures)]
    return [*made, *(f"<p>{name}: not installed.</p>" for name in missing)]


def _bars(rows: Iterable[tuple[str, Mapping[str, int], str]]) -> str:
    """A bar of parts for each row, to one scale; a part's class and title name its kind."""
    rows = list(rows)
    longest = max((sum(parts.values()) for _, parts, _ in rows), default=0) or 1
    lines = []
    for name, parts, said in rows:
        bar = "".join(
            f'<i class="{kind}" style="width:{100 * n / longest:.2f}%" title="{kind}: {n:,}"></i>'
            for kind, n in parts.items()
        )
        lines.append(f"<tr><th>{escape(name)}</th><td class=bar>{bar}</td><td>{said}</td></tr>")
    kinds = dict.fromkeys(kind for _, parts, _ in rows for kind in parts)
    legend = "".join(f'<span><i class="{kind}"></i>{kind}</span>' for kind in kinds)
    return f"<div class=legend>{legend}</div><table class=chart>{''.join(lines)}</table>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
