"""Samples of the ops: one table drives value, type, lowering, view laws and errors.

A module in `tests/ops/samples/` has `SAMPLES`, calls that work, and may have `REFUSALS`, calls that
must raise while recording.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op

Arrays = tuple[Any, ...]


@dataclass(frozen=True)
class Sample:
    """One call of an op.

    `operands` are the arrays, or a function that makes them. Without a `tolerance` XLA and NumPy
    must agree to the bit, signs of zeros included (save that subnormal numbers may be zero); with
    one, to within `tolerance` times the largest number of the result, or, if `each`, times each
    number's own magnitude, for the `reason` given. `view` says, of a view op, that this call of it
    can be undone, so that the laws of writing hold.
    """

    op: Op
    operands: Arrays | Callable[[], Arrays]
    attrs: dict[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    reason: str = ""
    each: bool = False
    view: bool = True

    def __post_init__(self) -> None:
        if self.tolerance is not None and not self.reason:
            raise ValueError(f"{self.op}: a tolerance needs a reason")

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The operands."""
        made = self.operands() if callable(self.operands) else self.operands
        return tuple(map(np.asarray, made))

    def record(self) -> tuple[Node, ...]:
        """Record the call; its results."""
        found = self.op(*map(ops.leaf, self.arrays), **self.attrs)
        return found if isinstance(found, tuple) else (found,)

    def __str__(self) -> str:
        types = ", ".join(f"{x.dtype}{list(x.shape)}" for x in self.arrays)
        return f"{self.op.name}({types}, {self.attrs})"


@dataclass(frozen=True)
class Refusal:
    """A call that an op must refuse while recording, with `error`."""

    op: Op
    operands: Arrays
    error: type[Exception]
    attrs: dict[str, Any] = field(default_factory=dict)


@cache
def all_samples() -> tuple[Sample, ...]:
    """The samples of every module."""
    return tuple(row for module in _modules() for row in module.SAMPLES)


@cache
def all_refusals() -> tuple[Refusal, ...]:
    """The refusals of every module that has some."""
    return tuple(row for module in _modules() for row in getattr(module, "REFUSALS", ()))


def _modules() -> list[Any]:
    files = sorted(Path(__file__).with_name("samples").glob("[!_]*.py"))
    return [import_module(f"tests.ops.samples.{file.stem}") for file in files]
