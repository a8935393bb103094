"""Programs that the host runs whole, as it has most of their work."""

from collections.abc import Callable

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import cut
from lazytensor.core.runtime.host_partition import host_instructions
from lazytensor.core.runtime.program_cache import Entry

N = 256
PRODUCT = {"batch": ((), ()), "contract": ((1,), (0,)), "dtype": None}


def matrix(columns: int = N, dtype: type = float) -> Node:
    """A leaf of some rows."""
    return leaf(np.ones((N, columns), dtype))


def solved(dtype: type, functions: int) -> Node:
    """A system solved, then `functions` elementwise functions of the solution."""
    made = ops.solve(matrix(dtype=dtype), matrix(2 * N, dtype))
    for _ in range(functions):
        made = ops.negate(made)
    return made


ROWS: dict[str, tuple[Callable[[], Node], bool]] = {
    "LAPACK by itself": (lambda: solved(float, 0), True),
    "LAPACK and some work": (lambda: solved(complex, 6), True),
    "LAPACK and much work": (lambda: solved(complex, 12), False),
    "a view of what LAPACK gives": (
        lambda: ops.transpose(ops.inv(matrix()), axes=(1, 0)),
        True,
    ),
    "a product by itself": (lambda: ops.dot_general(matrix(), matrix(), **PRODUCT), True),
    "a product and any work": (
        lambda: ops.negate(ops.dot_general(matrix(), matrix(), **PRODUCT)),
        False,
    ),
    "no such thing": (lambda: ops.negate(matrix()), False),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_host_has_the_whole_program(name: str) -> None:
    made, hosted = ROWS[name]
    output = made()
    found = cut(reachable([output]), [output])
    entry = Entry(found.program)
    host_instructions(entry)
    assert entry.hosted == hosted
