"""What TF's CPU kernels ask of values: positions inside an axis, divisors that are not zero.

What the host has is looked at while recording, so that the error comes where TF raises it. Of other
values a flag is computed; it is a guard of the program, or, while a function is walked over
parameters, one of the function's flags, which becomes a guard of each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from tensorflow.python.framework import errors

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import BOOL, INTS, SIGNED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, scalar
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.tf.tensors.lifetime import state

Run = Callable[[Sequence[Node]], list[Node]]
LOOKED_AT: Final = 2**18
"""Elements up to which values of the host are looked at while recording."""
DIVISION: Final = "Integer division by zero"
POWER: Final = "Integers to negative integer powers are not allowed"
UNBOUNDED: Final = 2**64
"""A size beyond all whole numbers."""


class InvalidArgument(errors.InvalidArgumentError):
    """TF's error for values that a kernel refuses, from its text.

    What is made is of TF's own class: Keras adds to an error by making another one of its class.
    """

    def __new__(cls, text: str) -> Any:
        """TF's error."""
        return errors.InvalidArgumentError(None, None, text)


class Demand(NamedTuple):
    """Positions in `node` are in [0, n) for each n of `sizes`, one a column if there are several.

    `lowest` None: negative ones are fine. No `sizes`: the values are not zero.
    """

    node: Any
    sizes: tuple[int, ...]
    text: str
    lowest: int | None = 0


def inside(node: Node, *sizes: int, name: str = "indices", lowest: int | None = 0) -> Demand:
    """Positions within axes of these sizes."""
    bound = f"[0, {sizes[0]})" if len(sizes) == 1 else str(list(sizes))
    return Demand(node, sizes, f"{name} is not in {bound}", lowest)


def divides(x: Node, y: Node, **_: Any) -> list[Demand]:
    """Whole numbers are not divided by zero."""
    return [Demand(y, (), DIVISION)] if y.type.dtype in INTS else []


def raises(x: Node, y: Node, **_: Any) -> list[Demand]:
    """Whole numbers are not raised to negative powers."""
    return [Demand(y, (UNBOUNDED,), POWER)] if y.type.dtype in SIGNED else []


def demanding(run: Run, demands: Sequence[Demand], operands: Sequence[Node]) -> Run:
    """`run` with results that mean something only if `demands` of its operands are met."""
    places = [next(i for i, x in enumerate(operands) if x is d.node) for d in demands]

    def checked(nodes: Sequence[Node]) -> list[Node]:
        flags = [required(d._replace(node=nodes[i])) for d, i in zip(demands, places, strict=True)]
        made = run(nodes)
        for ok in flags:
            if ok is not None:
                made = [ops.guarded(node, ok) for node in made]
        return made

    return checked


def required(demand: Demand) -> Node | None:
    """The guard of a demand; None if the values are known, or a function's flags have it.

    Raises: InvalidArgumentError if they are known and not as demanded.
    """
    node = demand.node
    known = np.asarray(node.value, node.type.dtype) if node.op is SLOT else node.value
    if isinstance(known, np.ndarray) and known.size <= LOOKED_AT:
        _look(known, demand)
        return None
    flag = _MET(node, sizes=demand.sizes, lowest=demand.lowest)
    return guard(flag, demand.text)


def guard(flag: Node, text: str) -> Node | None:
    """A guard of the program, or, in a function that is walked over parameters, a flag of it."""
    if state.tracing:
        state.flags.append((flag, text))
        return None
    return ops.guard(flag, error=InvalidArgument, text=text)


def look(flag: Node, text: str) -> None:
    """See now that a flag is true, whether or not anybody needs what it is about.

    In a function that is walked over parameters it is one of the function's flags.
    """
    ok = guard(flag, text)
    if ok is not None:
        scheduler.sync(ok, cause=text)


def _look(known: np.ndarray, demand: Demand) -> None:
    if not demand.sizes:
        if not known.all():
            raise InvalidArgument(demand.text)
        return
    if not known.size:
        return
    if len(demand.sizes) == 1:
        lowest, highest = known.min(), known.max()
        fine = highest < demand.sizes[0] and (demand.lowest is None or lowest >= demand.lowest)
        if fine:
            return
    bad = known >= (demand.sizes[0] if len(demand.sizes) == 1 else np.array(demand.sizes))
    if demand.lowest is not None:
        bad |= known < demand.lowest
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        if demand.sizes == (UNBOUNDED,):
            raise InvalidArgument(demand.text)
        name, _, rest = demand.text.partition(" ")
        place = f"{list(at)}" if at else ""
        raise InvalidArgument(f"{name}{place} = {known[at]} {rest}")


def _met(x: Node, *, sizes: tuple[int, ...], lowest: int | None) -> Node:
    axes = tuple(range(x.type.ndim))
    if not sizes:
        return ops.reduce_and(ops.not_equal(x, scalar(0, x.type.dtype)), axes=axes)
    flags = []
    for i, size in enumerate(sizes):
        column = x
        if len(sizes) > 1:
            column = ops.part(x, x.type.ndim - 1, i, 1)
        bounds = []
        if size <= np.iinfo(x.type.dtype).max:
            bounds.append(column < size)
        if lowest is not None:
            bounds.append(column >= lowest)
        if bounds:
            flags.append(ops.reduce_and(every(bounds), axes=axes))
    return every(flags or [ops.broadcast(scalar(True, BOOL), shape=())])


def every(flags: Sequence[Node]) -> Node:
    """Whether all flags are true."""
    found = flags[0]
    for flag in flags[1:]:
        found = found & flag
    return found


_MET: Final = Composite("tf.met", _met)
