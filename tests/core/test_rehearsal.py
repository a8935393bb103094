"""Executables that are rehearsed: which, how often, and that nothing of it is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from lazytensor.core.interpreter.work import has_op
from lazytensor.core.ir.assumptions import NOTHING_ASSUMED
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import F32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.control import Region
from lazytensor.core.runtime import rehearsal

LINE = tensor_type(F32, (8,))


class Counted:
    """An executable, and how often it was started."""

    def __init__(self, executable: Any) -> None:
        self.executable, self.starts = executable, 0
        self.calls_back = executable.calls_back

    def temporary_bytes(self) -> int:
        return int(self.executable.temporary_bytes())

    def start(self, buffers: list[Any]) -> Iterator[list[Any]]:
        self.starts += 1
        return iter(self.executable.start(buffers))


def doubled(x: Node) -> Node:
    return x + x


def halved(x: Node) -> Node:
    """Halved until it is small, which is a loop whose end depends on data."""
    condition = trace_types(lambda y: ops.reduce_max(y, axes=(0,)) > 1, (LINE,), {})
    body = trace_types(lambda y: y * 0.5, (LINE,), {})
    made = ops.while_(x, condition=Region("large", condition), body=Region("halved", body))
    return made[0] if isinstance(made, tuple) else made


CASES: list[tuple[Callable[..., Node], int, int]] = [
    (doubled, 2**20, rehearsal.RUNS),
    (doubled, 8, 0),
    (halved, 2**20, 0),
]


@pytest.mark.parametrize(("body", "most", "starts"), CASES)
def test_what_is_rehearsed(
    monkeypatch: pytest.MonkeyPatch, body: Callable[..., Node], most: int, starts: int
) -> None:
    monkeypatch.setattr(rehearsal, "MOST_BYTES", most)
    program = trace_types(body, (LINE,), {})
    executable = Counted(backend().compile(program, NOTHING_ASSUMED, (), ()))
    rehearsal.rehearse(executable, program, [])  # type: ignore[arg-type]
    assert executable.starts == starts


def test_an_op_is_found_in_the_body_of_a_loop() -> None:
    program = trace_types(halved, (LINE,), {})
    assert has_op(program, ops.reduce_max)
    assert not has_op(program, ops.reduce_min)
