"""Rounds of a stencil: what one round writes, the next reads from memory."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from lazytensor.backends.xla import client
from lazytensor.backends.xla.module import module_of
from lazytensor.core import ops
from lazytensor.core.ir.assumptions import Assumptions
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import cut
from lazytensor.core.ops.basic_index import window
from lazytensor.core.runtime.scheduler import fetch

pytestmark = pytest.mark.usefixtures("compiled")

SHAPE = (40, 40)
INNER = slice(1, -1)
EARLIER, LATER = slice(None, -2), slice(2, None)
ALL = slice(None)


def read(x: Node, *key: slice) -> Node:
    return window(SHAPE, key).read(x)


def jacobi(x: Node, y: Node) -> Node:
    """`y` with the mean of the four neighbours in `x` and of `x` itself."""
    inner = read(x, INNER, INNER) + read(x, INNER, EARLIER) + read(x, INNER, LATER)
    inner = inner + read(x, EARLIER, INNER) + read(x, LATER, INNER)
    return window(SHAPE, (INNER, INNER)).write(y, inner * 0.2)


def scaled(x: Node, y: Node) -> Node:
    """`x` with its inner part computed from that part alone; nothing reads the rest."""
    part = window(SHAPE, (INNER, INNER))
    return part.write(x, part.read(x) * 1.5)


def wrapped(x: Node, y: Node) -> Node:
    """A round of `jacobi`, and borders that are periodic one way and closed the other."""
    made = jacobi(x, y)
    for key, source in (
        ((ALL, slice(0, 1)), (ALL, slice(-2, -1))),
        ((ALL, slice(-1, None)), (ALL, slice(1, 2))),
        ((slice(0, 1), ALL), (slice(1, 2), ALL)),
        ((slice(-1, None), ALL), (slice(-2, -1), ALL)),
    ):
        made = window(SHAPE, key).write(made, read(made, *source))
    return made


def optimised(step: Callable[[Node, Node], Node], rounds: int) -> str:
    """The program that XLA makes of some rounds, which knows all places."""
    x, y = leaf(np.ones(SHAPE)), leaf(np.zeros(SHAPE))
    for _ in range(rounds):
        x, y = step(x, y), x
    found = cut(reachable([x]), [x])
    program = found.program
    pairs = zip(program.slots, found.slots, strict=True)
    baked = {at: np.asarray(value) for at, value in pairs}
    executable = client.compile(*module_of(program, Assumptions(baked, {})))
    (module,) = executable._loaded.hlo_modules()
    text: str = module.to_string()
    return text


def instructions(step: Callable[[Node, Node], Node], rounds: int) -> int:
    """Instructions of the optimised program, those within loops included."""
    return optimised(step, rounds).count(" = ")


def test_a_round_reads_what_the_one_before_has_written() -> None:
    """It would else compute all rounds before it again, as the value just written is at hand."""
    counts = [instructions(jacobi, rounds) for rounds in (4, 8, 12)]
    assert counts[2] - counts[1] < 1.3 * (counts[1] - counts[0])


def test_what_only_the_next_round_reads_is_not_stored() -> None:
    """Eight rounds are one loop, as the parts that are written do not matter to one another."""
    assert instructions(scaled, 8) - instructions(scaled, 1) < 4 * 7


def test_borders_that_are_copied_from_one_another_are_written_in_place() -> None:
    """A loop over all of the array, or a copy of it, for each of four borders took most time."""
    whole = r"= f64\[40,40\]\S* (?:copy|fusion)\("
    one, three = (len(re.findall(whole, optimised(wrapped, rounds))) for rounds in (1, 3))
    assert three - one <= 2


def test_what_says_where_to_read_and_write_is_no_border() -> None:
    """One array is the start of a slice and of a write, both on more axes than it has."""
    place = leaf(np.array([3, 0])) + leaf(np.array([1, 0]))
    line = ops.slice(leaf(np.ones(SHAPE)), place, sizes=(1, 40), strides=(1, 1))
    made = ops.update_slice(leaf(np.zeros(SHAPE)), line, place, strides=(1, 1))
    assert fetch(made).sum() == 40
