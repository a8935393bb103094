"""The user's source at the place that caused an event: its line, and the syntax around it."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Final

Span = tuple[int, int, int, int]
"""First line, last line, first column, last column."""

LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True)
class Source:
    """A line, and the syntax around what was evaluated there, innermost first (as far as known)."""

    file: str
    line: int
    around: tuple[ast.AST, ...] = ()

    @property
    def text(self) -> str:
        """The line itself."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def loops(self) -> list[ast.AST]:
        """The loops around it, in its own function."""
        found: list[ast.AST] = []
        for inner, outer in zip(self.around, self.around[1:], strict=False):
            if isinstance(outer, SCOPES):
                break
            if isinstance(outer, LOOPS) and inner is not getattr(outer, "iter", None):
                found.append(outer)
        return found

    @property
    def tested(self) -> bool:
        """Whether it is the test of an `if`, a `while`, an `assert`, or a part of it."""
        if self.around and hasattr(self.around[0], "test"):
            return True  # the jump that follows the test stands for the whole statement
        pairs = zip(self.around, self.around[1:], strict=False)
        return any(inner is getattr(outer, "test", None) for inner, outer in pairs)

    @property
    def iterated(self) -> bool:
        """Whether it is the iterable of a loop."""
        pairs = zip(self.around, self.around[1:], strict=False)
        return any(isinstance(o, LOOPS) and i is getattr(o, "iter", None) for i, o in pairs)

    @property
    def called(self) -> list[str]:
        """The functions and methods that it calls, or is an argument of, innermost first."""
        calls = (node.func for node in self.around if isinstance(node, ast.Call))
        names = (getattr(func, "id", getattr(func, "attr", "")) for func in calls)
        return [*names, *["format" for node in self.around if isinstance(node, ast.JoinedStr)]]

    @property
    def reduced(self) -> bool:
        """Whether it calls a method of another call's result: `(x == y).sum().item()`."""
        node = self.around[0] if self.around else None
        method = node.func if isinstance(node, ast.Call) else None
        return isinstance(method, ast.Attribute) and isinstance(method.value, ast.Call)

    @property
    def varies(self) -> bool:
        """Whether it uses the element of a loop around it, or an element at the loop's index."""
        if not self.around:
            return False
        elements, numbers = _targets(self.loops)
        inside = list(ast.walk(getattr(self.around[0], "test", self.around[0])))
        indices = [node.slice for node in inside if isinstance(node, ast.Subscript)]
        parts = [p for i in indices for p in (i.elts if isinstance(i, ast.Tuple) else [i])]
        exact = {part.id for part in parts if isinstance(part, ast.Name)}
        names = {node.id for node in inside if isinstance(node, ast.Name)}
        return not (names.isdisjoint(elements) and exact.isdisjoint(numbers))


def _targets(loops: list[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that loops bind: to elements of a container, and to results of a call (`range`)."""
    elements: set[str] = set()
    numbers: set[str] = set()
    for loop in loops:
        if isinstance(loop, ast.For | ast.comprehension):
            names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
            (numbers if isinstance(loop.iter, ast.Call) else elements).update(names)
    return elements, numbers


def source(code: CodeType, offset: int) -> Source:
    """The source of an instruction."""
    positions = list(code.co_positions())
    first, last, start, end = positions[offset // 2] if offset >= 0 else (None,) * 4
    if first is None:
        return Source(code.co_filename, code.co_firstlineno)
    if last is None or start is None or end is None:
        return Source(code.co_filename, first)
    around = _around(code.co_filename, (first, last, start, end))
    return Source(code.co_filename, first, around)


def _around(file: str, span: Span) -> tuple[ast.AST, ...]:
    """The nodes that hold a span of the file, innermost first."""
    node: ast.AST | None = _tree(file)
    found: list[ast.AST] = []
    while node is not None:
        found.append(node)
        node = next((child for child in ast.iter_child_nodes(node) if _holds(child, span)), None)
    return tuple(reversed(found))


def _holds(node: ast.AST, span: Span) -> bool:
    if isinstance(node, ast.comprehension):  # it has no position of its own
        return any(_holds(part, span) for part in (node.iter, *node.ifs))
    first, last, start, end = span
    if not isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword):
        return any(_holds(child, span) for child in ast.iter_child_nodes(node))
    left = (node.lineno, node.col_offset)
    right = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return left <= (first, start) and (last, end) <= right


@cache
def _tree(file: str) -> ast.AST | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None
