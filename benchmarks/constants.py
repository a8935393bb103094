"""The table of constants, docs/constants.md, made of the code.

`python -m benchmarks.constants` writes the page; a test says when it is not current.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "constants.md"
HEAD: Final = """# Constants

`python -m benchmarks.constants` makes this page of the code. The meaning is the docstring beneath
the constant, or the comment beside it.
"""
POLICIES: Final = {
    "The four policies": ("core/policy.py",),
    "Sizes that change": (
        "core/runtime/shape_buckets.py",
        "core/passes/bucketing/pad.py",
    ),
    "Calls seen before": (
        "core/trace/call_memo.py",
        "core/ir/op.py",
        "core/buffers/cell.py",
        "core/runtime/replay_program.py",
        "frontends/numpy/ufuncs/recipes.py",
        "frontends/tf/functions/calls.py",
        "frontends/tf/functions/given.py",
        "frontends/tf/functions/bodies.py",
        "frontends/tf/dispatch/recording.py",
    ),
    "Memory and threads": (
        "core/device/host_memory.py",
        "core/device/malloc.py",
        "core/interpreter/interpreter.py",
        "core/passes/donation.py",
        "core/runtime/locking.py",
    ),
}
"""The modules of each part of the page, within the package."""


class Constant(NamedTuple):
    """A number that a module declares as final, with the text that explains it."""

    name: str
    value: str
    meaning: str


def constants(source: str) -> Iterator[Constant]:
    """The final numbers of a module, in order."""
    body = ast.parse(source).body
    lines = source.splitlines()
    for statement, after in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.AnnAssign(ast.Name(name), kind, ast.expr() as value):
                if "Final" in ast.unparse(kind) and _is_number(value):
                    said = _docstring(after) or _comment(lines, statement)
                    yield Constant(name, ast.unparse(value), said)


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
    return False


def _docstring(after: ast.stmt | None) -> str:
    match after:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
    return ""


def _comment(lines: list[str], statement: ast.AnnAssign) -> str:
    """What the line's comment says, or the line above."""
    found = lines[(statement.end_lineno or statement.lineno) - 1].partition("  # ")[2]
    above = lines[statement.lineno - 2].strip() if statement.lineno > 1 else ""
    return found.strip() or (above.removeprefix("#").strip() if above.startswith("#") else "")


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for policy, modules in POLICIES.items():
        parts.append(f"\n## {policy}\n\n| name | value | meaning | module |\n|---|---|---|---|\n")
        for module in modules:
            for name, value, meaning in constants((ROOT / "lazytensor" / module).read_text()):
                said = meaning.replace("|", "\\|") or "–"
                parts.append(f"| `{name}` | `{value}` | {said} | `{module}` |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
