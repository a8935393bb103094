"""Plans of calls: the signatures that a call recorded, found again by its types and plain values.

Data flow. A frontend reads a call's arguments (`Reader`): arrays give nodes, whose types make a key
with the values of the other arguments. A memory has the key's plan: the signatures that the first
such call recorded, ready to be recorded again. A call without a plan takes the frontend's own path,
and a plan is made of the nodes that it recorded (`learned`); or the frontend traces the call's
body, and keeps its composite in the memory.

Invariants:
- A call has a plan only if its types and plain values determine what it records. A call that looks
  at data, writes, warns, or is checked while it runs has none. The frontend knows which these are.
- Keys tell True from 1 from 1.0, and 0.0 from -0.0: a plain value enters with its class.
- Of nodes, a plan holds numbers only. Operands that may be one node are places, never identities:
  a call whose operands were one node teaches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.array_base import node_of
from lazytensor.core.ir.node import Node, ResultNode, TupleNode
from lazytensor.core.ir.op import SLOT, scalar, several, signature_of
from lazytensor.core.ir.recording import Signature, record

PLAN_STEPS_BOUND: Final = 32
"""Operations, numbers included, that a plan has at most."""
LISTED_ELEMENTS_BOUND: Final = 64
"""Elements of a list or tuple that are looked at."""
LISTS_BOUND: Final = 8
"""Lists and tuples in each other that are looked at: one may hold itself."""

Key = tuple[Any, ...]


class CallPlan:
    """What a call of certain types and plain values records; `form` is for the frontend.

    `steps` are recorded one after another, each of a signature and where its operands are among the
    call's nodes, `constants` and the results of earlier steps; `results` says where the results
    are. Where there is one step, of the call's nodes in their order, and its one result,
    `signature` is that step's.
    """

    __slots__ = ("constants", "form", "results", "signature", "steps")

    def __init__(
        self,
        given: int,
        constants: tuple[Node, ...],
        steps: tuple[tuple[Signature, tuple[int, ...]], ...],
        results: tuple[int, ...],
    ) -> None:
        self.constants = constants
        self.steps = steps
        self.results = results
        single = len(steps) == 1 and steps[0][1] == tuple(range(given)) and results == (given,)
        self.signature: Signature | None = None
        if single and type(steps[0][0].type) is not tuple:
            self.signature = steps[0][0]
        self.form: Any = None

    def replay(self, nodes: Iterable[Node]) -> list[Node]:
        """Record all steps: the nodes given, constants, and what was made, at their places."""
        made = [*nodes, *self.constants]
        for signature, places in self.steps:
            operands: tuple[Node, ...] = tuple([made[i] for i in places])
            if type(signature.type) is tuple:
                made += several(signature, operands)
            else:
                made.append(record(signature, operands))
        return made


def learned(
    made: Sequence[Node], given: Sequence[Node], before: int, sparing: bool = False
) -> CallPlan | None:
    """The plan of a call that gave `made` for the nodes `given`, all of which it used.

    before: how many nodes there were when it began. sparing: it may have left some unused. None if
    it did anything but record.
    """
    if len(set(given)) < len(given):
        return None
    steps, constants = _behind(made, given)
    if len(steps) + len(constants) > PLAN_STEPS_BOUND or not all(
        node.serial >= before and node.value is None for node in steps
    ):
        return None
    used = {x for node in steps for x in node.operands}.union(made)
    if not (sparing or used.issuperset(given)):
        return None
    if not all(_is_constant(node, before) for node in constants):
        return None
    place = {node: i for i, node in enumerate((*given, *constants))}
    count = len(place)
    for node in steps:
        if isinstance(node, ResultNode):
            place[node] = place[node.operands[0]] + node.attrs[0]
            continue
        place[node] = count  # of several results, where the first is
        count += len(node.parts) if isinstance(node, TupleNode) else 1
    recorded = [node for node in steps if not isinstance(node, ResultNode)]
    return CallPlan(
        len(given),
        tuple(constants),
        tuple((signature_of(node), tuple(place[x] for x in node.operands)) for node in recorded),
        tuple(place[node] for node in made),
    )


def _behind(made: Sequence[Node], given: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """What was recorded between `given` and `made`, in order, and the inputs besides `given`."""
    found: dict[Node, None] = {}
    stack = [*made]
    while stack and len(found) <= 2 * PLAN_STEPS_BOUND:
        node = stack.pop()
        if node not in found and node not in given:
            found[node] = None
            stack.extend(node.operands)
    ordered = sorted(found, key=lambda node: node.serial)
    steps = [node for node in ordered if node.operands]
    return steps, [node for node in ordered if not node.operands]


def _is_constant(node: Node, before: int) -> bool:
    """Whether an input is a number that the call has made of its plain arguments."""
    if node.op is SLOT:
        return True
    return node.serial >= before and isinstance(node.value, np.ndarray) and node.type.size == 1


class Paired:
    """What a call of one node, or two, or one and a number records: `signature`.

    If it is None, `body` makes the node. `form` is for the frontend. A number enters as a scalar of
    `dtype` if it is within `low` and `high`; `number` is the scalar of the last call: a program's
    constants come back as the same objects.
    """

    __slots__ = ("body", "dtype", "form", "high", "low", "number", "signature")

    def __init__(
        self,
        signature: Signature | None,
        limits: tuple[Any, Any, Any] = (None, None, None),
        body: Any = None,
        form: Any = None,
    ) -> None:
        self.signature = signature
        self.body = body
        self.form = form
        self.low, self.high, self.dtype = limits
        self.number: Node | None = None

    def scalar(self, value: Any) -> Node | None:
        """A number as a node, if it is within limits."""
        number = self.number
        if number is None or number.value is not value:
            if not self.low <= value <= self.high:
                return None
            number = self.number = scalar(value, self.dtype)
        return number


class _Anything:
    """Below and above every number: complex ones are not ordered."""

    def __le__(self, other: Any) -> bool:
        return True

    __ge__ = __le__


ANY: Final = _Anything()


def limits(kind: type, dtype: np.dtype) -> tuple[Any, Any, np.dtype] | None:
    """Between which numbers of a class converting to `dtype` need not be looked at; or None."""
    if dtype.kind == "c" and dtype.itemsize == 16:
        return ANY, ANY, dtype
    if dtype.kind in "iu" and kind is int:
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), dtype
    if dtype.itemsize == 8 and dtype.kind == "f":
        return (-(2**53), 2**53, dtype) if kind is int else (-float("inf"), float("inf"), dtype)
    if dtype.itemsize == 4 and dtype.kind == "f":
        return (-(2**24), 2**24, dtype) if kind is int else (-3e38, 3e38, dtype)
    return None


class Reader:
    """Makes keys of arguments: plain values, floats, arrays, tuples and lists of all these.

    plain: classes of values that never change, and are compared among themselves. array, others:
    classes of holders. Those whose shadow is of the class `unusual` have no key: results depend on
    what it says.
    """

    __slots__ = ("array", "others", "plain", "unusual")

    def __init__(
        self,
        plain: frozenset[type],
        array: type | None = None,
        others: frozenset[type] = frozenset(),
        unusual: type | None = None,
    ) -> None:
        self.plain = plain
        self.array = array
        self.others = others
        self.unusual = unusual

    def key(self, args: Sequence[Any], kwargs: dict[str, Any], nodes: list[Node]) -> Key | None:
        """A call's key; its nodes are put into the list. None if an argument is unusual."""
        parts: list[Any] = []
        for x in args:
            if not self._read(x, parts, nodes, 0):
                return None
        for name in kwargs:
            parts.append(name)
            if not self._read(kwargs[name], parts, nodes, 0):
                return None
        return tuple(parts)

    def _read(self, x: Any, parts: list[Any], nodes: list[Node], depth: int) -> bool:
        # Each value starts with a type or a class, a keyword's name is neither, and a list says how
        # long it is: the parts of two calls are equal only if the calls are.
        kind = type(x)
        if kind is self.array or kind in self.others:
            holder: Any = x
            if type(holder._shadow) is self.unusual:
                return False
            node = node_of(holder)
            nodes.append(node)
            if kind is not self.array:
                parts.append(kind)
            parts.append(node.type)
            return True
        parts.append(kind)
        if kind in self.plain:
            parts.append(x)
        elif kind is float and x == x:
            parts.append(x or str(x))  # which tells 0.0 from -0.0
        elif kind is tuple or kind is list:
            parts.append(len(x))
            if len(x) > LISTED_ELEMENTS_BOUND or depth > LISTS_BOUND:
                return False
            for item in x:
                if not self._read(item, parts, nodes, depth + 1):
                    return False
        else:
            return False
        return True
