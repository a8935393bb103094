"""Each workaround prevents what XLA still does without it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import client, workarounds
from lazytensor.backends.xla.attributes import i64s, ir_type
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.angle import _sine
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.backends.xla.lowerings.expansion import expansion, number, widened
from lazytensor.backends.xla.lowerings.reduction import COMBINE, reduce, reduced
from lazytensor.backends.xla.tables import LOWERINGS
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.types import tensor_type

Workaround = Callable[..., Any]
Built = Callable[[Emitter, Workaround, Sequence[Value]], Value]


@dataclass
class Compiled:
    """A module as XLA runs it: `text`, the optimised program; `results` for the inputs."""

    text: str
    result: np.ndarray

    def count(self, instruction: str) -> int:
        """How often an instruction stands in the program."""
        return len(re.findall(rf" {instruction}\(", self.text))

    def joins(self, *instructions: str) -> bool:
        """Whether one computation has all of these instructions."""
        parts = self.text.split("\n\n")
        return any(all(f" {name}(" in part for name in instructions) for part in parts)


@dataclass
class Case:
    """A program that needs a workaround.

    build: the program, with what is given for the workaround. without: what takes its place where
    it is left out. inputs: of the program. spoiled: says whether XLA did what it should not do.
    """

    build: Built
    without: Workaround
    inputs: tuple[np.ndarray, ...]
    spoiled: Callable[[Compiled], bool]


def compiled(build: Built, workaround: Workaround, inputs: Sequence[np.ndarray]) -> Compiled:
    types = [tensor_type(x.dtype, x.shape) for x in inputs]
    with client.context(), ir.Location.unknown():
        module = ir.Module.create()
        signature = ir.FunctionType.get([ir_type(t) for t in types], [])
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", signature, visibility="public")
        emitter = Emitter(module, LOWERINGS)
        block = main.add_entry_block()
        with ir.InsertionPoint(block):
            values = [Value(emitter, t, a) for t, a in zip(types, block.arguments, strict=True)]
            result = build(emitter, workaround, values)
            func.ReturnOp([result.ir])
        ends = ir.FunctionType.get(signature.inputs, [result.ir.type])
        main.attributes["function_type"] = ir.TypeAttr.get(ends)
    executable = client.compile(module)
    executable.expect([result.type])
    (hlo,) = executable._loaded.hlo_modules()
    values = [client.to_device(x, owned=True) for x in inputs]
    return Compiled(hlo.to_string(), client.to_host(executable(values)[0]))


def unchanged(_: Any, x: Value) -> Value:
    return x


def same(x: Any) -> Any:
    return x


def differs(expected: np.ndarray) -> Callable[[Compiled], bool]:
    """Whether the result is not, to the bit, what NumPy computes."""
    return lambda program: not np.array_equal(program.result, expected, equal_nan=True)


def _hidden_constant(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    (x,) = values
    large = [e.expand(w(e.constant(1e16, F64)), x.type.shape) for _ in range(2)]
    return e.op("subtract", x.type, e.op("add", x.type, x, large[0]), large[1])


def _quotient(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    x, y, z = values
    return e.op("divide", x.type, w(e, e.op("divide", x.type, x, y)), z)


def _third(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    (x,) = values
    return e.op("divide", x.type, x, w(e, x.type, x, e.full(3.0, x.type)))


def _flagged(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    flag, x = values
    return e.op("multiply", x.type, x, e.op("convert", x.type, w(e, flag)))


def _rounded(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    (x,) = values
    return expansion(lambda x: w(x + number(1.0, x)) - number(1.0, x))(e, x.type, x)


def _summed_twice(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    """Sums of sines over either axis: a loop for the sines, and one for each sum."""
    (x,) = values
    sines = w(e, widened(_sine)(e, x.type, x))
    rows = reduced(e, sines, (0,), "sum")
    return e.op("add", rows.type, rows, reduced(e, sines, (1,), "max"))


def _difference(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    """Sums of differences."""
    x, means = values
    apart = e.op("subtract", x.type, x, e.place(means, x.type.shape, (0,)))
    return reduce(e, w(e, apart), (1,), "sum", COMBINE["sum"])


def _in_blocks(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    """A transpose, first that of blocks, then that within them."""
    n, inner = 64, 8
    blocks = e.reshape(values[0], (n, inner, n, inner))
    shape = blocks.type.with_shape((n, n, inner, inner))
    rows = w(e, e.op("transpose", shape, blocks, permutation=i64s((2, 0, 1, 3))))
    return e.op("transpose", blocks.type, rows, permutation=i64s((0, 3, 1, 2)))


def _reduced(kind: str, axis: int) -> Built:
    return lambda e, w, values: reduce(e, values[0], (axis,), kind, w)


def _in_two_steps(e: Emitter, w: Workaround, values: Sequence[Value]) -> Value:
    lines = reduce(e, values[0], (1,), "prod", w)
    return reduce(e, lines, (1,), "prod", COMBINE["prod"])


random = np.random.default_rng(0)
X, Y, Z = random.standard_normal((3, 1000))
SQUARE = random.standard_normal((512, 512))
LINES = random.standard_normal((64, 1024))
COLUMNS = random.standard_normal((10, 100_000))
WITH_NAN = np.where(np.arange(100_000) == 7, np.nan, COLUMNS)
SMALL = X * 1e-17
LIBRARY = "__ynn_fusion"

CASES = {
    "hide_constant": Case(_hidden_constant, same, (X,), differs(X + 1e16 - 1e16)),
    "opaque": Case(_quotient, unchanged, (X, Y, Z), differs(X / Y / Z)),
    "divisor": Case(_third, lambda e, type, x, y: y, (X,), differs(X / 3)),
    "fixed": Case(_rounded, same, (SMALL,), differs(SMALL + 1 - 1)),
    "flag_as_integer": Case(
        _flagged, unchanged, (np.zeros(1000, bool), X + np.nan), differs(X * np.nan)
    ),
    "computed_once": Case(
        _summed_twice, unchanged, (SQUARE,), lambda program: program.count("fusion") < 4
    ),
    "loop_of_its_own": Case(
        _difference,
        unchanged,
        (LINES, LINES[:, 0].copy()),
        lambda program: program.joins("subtract", "reduce"),
    ),
    "materialized": Case(
        _in_blocks,
        unchanged,
        (SQUARE,),
        lambda program: program.count("transpose") < 2,
    ),
    "added_by_loop": Case(
        _reduced("sum", 0), COMBINE["sum"], (COLUMNS,), lambda program: LIBRARY in program.text
    ),
    "multiplied_by_loop": Case(
        _in_two_steps,
        COMBINE["prod"],
        (random.standard_normal((100, 20, 8)),),
        lambda program: program.count("reduce") < 2,
    ),
    "inverted": Case(_reduced("max", 0), COMBINE["max"], (WITH_NAN,), differs(WITH_NAN.max(0))),
}
ELSEWHERE = {"hide_from_windows", "read_shared"}
"""Tested below, and in `test_shared_writes.py`."""
WITH: dict[str, Workaround] = {"inverted": workarounds.inverted("minimum")}
"""Where the workaround is what a function gives."""


def test_each_workaround_is_here() -> None:
    functions = inspect.getmembers(workarounds, inspect.isfunction)
    own = {name for name, f in functions if f.__module__ == workarounds.__name__}
    assert {name for name in own if name[0] != "_"} == {*CASES, *ELSEWHERE}


@pytest.mark.parametrize("name", CASES)
def test_a_workaround_prevents_what_xla_does(name: str) -> None:
    case = CASES[name]
    workaround = WITH.get(name) or getattr(workarounds, name)
    assert not case.spoiled(compiled(case.build, workaround, case.inputs))


@pytest.mark.parametrize("name", CASES)
def test_xla_still_does_it(name: str) -> None:
    case = CASES[name]
    found = compiled(case.build, case.without, case.inputs)
    assert case.spoiled(found), f"delete {name}: this jaxlib does not need it"


SUMS_OF_A_CONSTANT = """
import lazytensor.numpy as np
from lazytensor.backends.xla import workarounds
from lazytensor.core.settings import settings
settings.tier, settings.small, settings.disk = "compile", 1, False
{without}
place = np.argmin(np.array(True).flatten(), axis=-1, keepdims=True)
sums = np.cumsum(np.pad(place, 1, mode="edge"), -1, dtype="uint32")
assert sums.tolist() == [0, 0, 0]
"""
ABORTS = {
    "": False,
    "workarounds.hide_from_windows = lambda b, x: x": True,
}


@pytest.mark.parametrize(("without", "aborts"), ABORTS.items())
def test_xla_still_aborts_on_windows_of_a_constant(without: str, aborts: bool) -> None:
    script = SUMS_OF_A_CONSTANT.format(without=without)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (ended.returncode < 0) == aborts, ended.stderr.decode()[-2000:]
    assert aborts or not ended.returncode
