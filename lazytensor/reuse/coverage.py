"""The lines of the package that a block runs, by component."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from lazytensor.reuse.components import component
from lazytensor.reuse.source import code_lines

Lines = dict[str, Counter[tuple[str, int]]]
"""Per component: the runs of each line of code, given as file and number."""
Seen = Counter[tuple[CodeType, int]]
TOOL: Final = 4
"""Our tool id in `sys.monitoring`: one without a predefined use."""

_component = cache(component)


@contextmanager
def executed() -> Iterator[Lines]:
    """Note the lines that this thread runs in the block."""
    seen: Seen = Counter()
    found: Lines = defaultdict(Counter)
    watch = _monitored if sys.version_info >= (3, 12) else _traced
    with watch(seen):
        yield found
    for (code, line), times in seen.items():
        name = _component(code.co_filename)
        if name is None or code.co_filename == __file__:
            continue
        if line in _code(code.co_filename):
            found[name][code.co_filename, line] += times


@cache
def _code(filename: str) -> set[int]:
    return code_lines(Path(filename).read_text(encoding="utf-8"), filename)


@contextmanager
def _traced(seen: Seen) -> Iterator[None]:
    """By `sys.settrace`, for Python 3.11."""

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":  # a "return" event's line has been counted already
            seen[frame.f_code, frame.f_lineno] += 1
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if _component(frame.f_code.co_filename) is not None else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def _monitored(seen: Seen) -> Iterator[None]:
    """By `sys.monitoring`, which can be disabled for lines of other code."""
    monitoring: Any = vars(sys)["monitoring"]

    def line(code: CodeType, number: int) -> Any:
        if _component(code.co_filename) is None:
            return monitoring.DISABLE
        seen[code, number] += 1
        return None

    monitoring.use_tool_id(TOOL, "lazytensor reuse")
    try:
        monitoring.register_callback(TOOL, monitoring.events.LINE, line)
        monitoring.restart_events()
        monitoring.set_events(TOOL, monitoring.events.LINE)
        yield
    finally:
        monitoring.set_events(TOOL, 0)
        monitoring.free_tool_id(TOOL)
