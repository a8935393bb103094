"""Facts read off source files: lines of code, the core's ops that they use, their rows."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

OPS: Final = "lazytensor.core.ops"
_BARE: Final = frozenset(
    [
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    ]
)
"""Tokens that do not make their line a line of code."""


def python_files(paths: Iterable[Path]) -> list[Path]:
    """The Python files among the paths, or below them."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.exists() else []
    return found


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file. Raises: SyntaxError, which names the file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def code_lines(text: str, filename: str = "<text>") -> set[int]:
    """The numbers of the lines with code: no blank ones, no comments, no docstrings.

    Any statement that is only a string counts as a docstring. Raises: SyntaxError.
    """
    strings = [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in ast.walk(ast.parse(text, filename))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    spans = iter(sorted(strings))
    span = next(spans, None)
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        while span is not None and token.start >= span[1]:
            span = next(spans, None)
        documents = token.type == tokenize.STRING and span is not None and token.start >= span[0]
        if token.type not in _BARE and not documents:
            found.update(range(token.start[0], token.end[0] + 1))
    return found


class _File(NamedTuple):
    """Of a file: its lines of code, its functions, its string literals, the ops that it names."""

    lines: int
    functions: int
    texts: frozenset[str]
    ops: frozenset[str]


@cache
def _read(path: Path) -> _File:
    """What a file says. A report asks for it several times, and files do not change meanwhile."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    nodes = list(ast.walk(tree))
    functions = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    texts = frozenset(value for value in constants if isinstance(value, str))
    return _File(len(code_lines(text, str(path))), functions, texts, frozenset(_named(nodes)))


def count_lines(paths: Iterable[Path]) -> int:
    """The lines of code in the files."""
    return sum(_read(path).lines for path in paths)


def count_functions(paths: Iterable[Path]) -> int:
    """The functions and methods that the files define."""
    return sum(_read(path).functions for path in paths)


def texts(paths: Iterable[Path]) -> set[str]:
    """All string literals of the files, keys of their tables included."""
    return set[str]().union(*(_read(path).texts for path in paths))


def ops_used(paths: Iterable[Path], known: Iterable[str]) -> set[str]:
    """The public names in `known` that the files use as ops.

    A use is `ops.exp`, an import from the package of ops or a module in it, or a string in a file
    that looks ops up by name.
    """
    return set(known) & set[str]().union(*(_read(path).ops for path in paths))


def _named(nodes: Sequence[ast.AST]) -> Iterator[str]:
    modules: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OPS):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom | ast.Import):
            modules.update(_modules(node))
    looked_up = False
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            arguments = [ast.unparse(argument) for argument in node.args[:1]]
            looked_up |= node.func.id == "getattr" and arguments[0] in modules
    if looked_up:
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _modules(node: ast.ImportFrom | ast.Import) -> Iterator[str]:
    """The names of the package of ops, and of its modules, after an import."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            whole = alias.name
        else:
            whole = f"{node.module}.{alias.name}"
        if whole == OPS or whole.startswith(f"{OPS}."):
            plain = whole if isinstance(node, ast.Import) else alias.name
            yield alias.asname or plain
