"""Recipes: calls of functions and methods that were seen before, ready to be recorded.

Data flow. A call's arrays are read as nodes; their types and the values of all other arguments are
the key of a recipe, which says what to record. What the key cannot tell apart takes the slow path,
the function itself; what that has recorded is learnt as the key's recipe.

Invariants:
- Only functions whose result follows from types and plain arguments alone have recipes: what looks
  at an array's data, writes, or warns of more than losing an imaginary part, has none.
- Keys tell True from 1 from 1.0, and 0.0 from -0.0: a plain argument enters with its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from lazytensor.core.cell import Cell, Chain, View
from lazytensor.core.node import Node, Signature, has_several, nodes_made
from lazytensor.core.op import SLOT
from lazytensor.core.settings import settings
from lazytensor.core.types import TensorType
from lazytensor.frontends.numpy import plans
from lazytensor.frontends.numpy.array import Lazy, Scalar, ndarray, new
from lazytensor.frontends.numpy.fallback import lazies
from lazytensor.frontends.numpy.shadow import Turned
from lazytensor.frontends.numpy.small import GROWING, NOTHING, at_once, lazy_if_large

Function = Callable[..., Any]
Key = Any

BOUND: Final = 1000
"""Recipes kept of one function."""
LENGTH: Final = 32
"""Operations, constants included, that a recipe has at the most."""
LISTED: Final = 64
"""Elements of a list or tuple that are looked at."""

_PLAIN: Final[frozenset[type]] = frozenset(
    [
        *(int, bool, str, type(None), type, type(np._NoValue)),
        *(type(np.dtype(code)) for code in np.typecodes["All"] if code not in "SUVMm"),
    ]
)
"""Classes of arguments that are compared by value among themselves, and never change."""


RECORDED: Final = frozenset(
    [
        "all", "amax", "amin", "any", "argmax", "argmin", "astype", "clip", "concatenate", "copy",
        "count_nonzero", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "dot", "dstack",
        "hstack", "inner", "kron", "max", "mean", "min", "outer", "prod", "ptp", "stack", "sum",
        "tensordot", "vdot", "vstack", "where",
    ]
)  # fmt: skip
"""Functions and methods that may have recipes."""

VIEWED: Final = frozenset(
    [
        "diagonal", "expand_dims", "mT", "matrix_transpose", "moveaxis", "permute_dims", "ravel",
        "reshape", "squeeze", "swapaxes", "T", "transpose",
    ]
)  # fmt: skip
"""Functions, methods and attributes that give views by type and plain arguments alone."""


def remembered(name: str, slow: Function, real: Function | None = None) -> Function:
    """`slow`, in the place of NumPy's `real`, made short where `name` may have recipes."""
    if name in RECORDED:
        return recorded(slow, real or slow, name in GROWING)
    return viewed(slow, real or slow) if name in VIEWED else slow


class Recipe:
    """What a call records, and of which class the result is.

    `signature` is that of the one node, whose operands are the call's arrays in their order. If it
    is None, `steps` are recorded one after another, each of a signature and where its operands are
    among the arrays, `constants` and earlier steps; the last one is the result.
    """

    __slots__ = ("cls", "constants", "shadow", "signature", "steps")

    def __init__(
        self,
        result: Lazy,
        constants: tuple[Node, ...],
        steps: tuple[tuple[Signature, tuple[int, ...]], ...],
        arrays: int,
    ) -> None:
        self.cls = type(result)
        self.shadow = result._shadow
        self.constants = constants
        self.steps = steps
        single = len(steps) == 1 and steps[0][1] == tuple(range(arrays))
        self.signature = steps[0][0] if single else None

    def record(self, nodes: Iterable[Node]) -> Node:
        """Record all steps."""
        made = [*nodes, *self.constants]
        for signature, places in self.steps:
            made.append(Node(signature, tuple([made[i] for i in places])))
        return made[-1]


class Sight:
    """A view of an array that owns its data in rows: the steps to it, its type and layout."""

    __slots__ = ("chain", "shadow", "type")

    def __init__(self, chain: Chain, type: TensorType, shadow: np.ndarray | None) -> None:
        self.chain = chain
        self.type = type
        self.shadow = shadow


def recorded(slow: Function, real: Function, growing: bool = False) -> Function:
    """`slow`, a function that records what types and plain arguments say.

    `growing`: two small arrays may make a large one.
    """
    recipes: dict[Key, Recipe] = plans.memo()

    def call(x: Any = NOTHING, other: Any = NOTHING, /, *args: Any, **kwargs: Any) -> Any:
        small = type(x) is np.ndarray and x.size < settings.small
        if small and other is NOTHING and not kwargs:  # `at_once`, written out: loops
            made = real(x)
            return lazy_if_large(made) if type(made) is np.ndarray else made
        if other is not NOTHING:
            args = (x, other, *args)
        elif x is not NOTHING:
            args = (x,)
        if small and at_once(args, kwargs, growing):
            return lazy_if_large(real(*args, **kwargs))
        nodes: list[Node] = []
        parts: list[Any] = []
        if not _read(args, parts, nodes):
            return slow(*args, **kwargs)
        if kwargs:
            parts.extend(kwargs)
            if not _read(kwargs.values(), parts, nodes):
                return slow(*args, **kwargs)
        key = tuple(parts)
        recipe = recipes.get(key)
        if recipe is None:
            return _learn(recipes, key, nodes, slow, args, kwargs)
        signature = recipe.signature
        result: Any = new(recipe.cls)
        result.ref = Cell(
            recipe.record(nodes) if signature is None else Node(signature, tuple(nodes))
        )
        result._shadow = recipe.shadow
        result._base = None
        return result

    return call


def viewed(slow: Function, real: Function) -> Function:
    """`slow`, a function that shows an array's data in another shape."""
    sights: dict[Key, Sight] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        x = args[0] if args else None
        if type(x) is not ndarray or x._shadow is not None or type(x.ref) is not Cell:
            if type(x) is np.ndarray:
                if len(args) == 1 and not kwargs and x.size < settings.small:
                    return real(x)
                if at_once(args, kwargs):
                    return real(*args, **kwargs)
            return slow(*args, **kwargs)
        key: Any = x.ref.node.type
        if kwargs or len(args) > 1:
            parts: list[Any] = [key]
            if not _read(args[1:], parts, None):
                return slow(*args, **kwargs)
            parts.extend(kwargs)
            if not _read(kwargs.values(), parts, None):
                return slow(*args, **kwargs)
            key = tuple(parts)
        sight = sights.get(key)
        if sight is None:
            return _look(sights, key, slow, args, kwargs)
        result: Any = new(ndarray)
        result.ref = View(x.ref, sight.chain, sight.type) if sight.chain else x.ref
        result._shadow = sight.shadow
        result._base = x if x._base is None else x._base
        return result

    return call


def _read(values: Iterable[Any], parts: list[Any], nodes: list[Node] | None) -> bool:
    """Add to a key what `values` are, and to `nodes` those of arrays; False if they are unusual."""
    for x in values:
        kind = type(x)
        if kind is ndarray:
            if nodes is None or type(x._shadow) is Turned:
                return False
            node = x.ref.node
            nodes.append(node)
            parts.append(node.type)
        elif kind in _PLAIN:
            parts.append(kind)
            parts.append(x)
        elif (kind is tuple or kind is list) and len(x) <= LISTED:
            parts.append(kind)
            parts.append(len(x))
            if not _read(x, parts, nodes):
                return False
        elif kind is float:
            parts.append(kind)
            parts.append(x or str(x))  # which tells 0.0 from -0.0
        elif kind is Scalar and nodes is not None:
            node = x.ref.node
            nodes.append(node)
            parts.append(kind)
            parts.append(node.type)
        else:
            return False
    return True


def _learn(
    recipes: dict[Key, Recipe],
    key: Key,
    nodes: list[Node],
    slow: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    before = nodes_made()
    result = slow(*args, **kwargs)
    if nodes and not plans.suspended and not any(result is x for x in lazies((args, kwargs))):
        recipe = _recipe(result, nodes, before)
        if recipe is not None and all(part == part for part in key):  # not so for nan
            if len(recipes) >= BOUND:
                recipes.clear()
            recipes[key] = recipe
    return result


def _recipe(result: Any, nodes: list[Node], before: int) -> Recipe | None:
    """How `result` was recorded from `nodes`, if the call did nothing else."""
    fresh = type(result) in (ndarray, Scalar) and type(result.ref) is Cell and result._base is None
    if not fresh or len(set(nodes)) < len(nodes) or _may_warn(result, nodes):
        return None
    steps, constants = _behind(result.ref.node, nodes)
    if len(steps) + len(constants) > LENGTH or not all(
        node.serial >= before and node.value is None and not has_several(node) for node in steps
    ):
        return None
    used = {x for node in steps for x in node.operands} | {result.ref.node}
    if not used.issuperset(nodes) or not all(_is_constant(node, before) for node in constants):
        return None
    place = {node: i for i, node in enumerate((*nodes, *constants, *steps))}
    return Recipe(
        result,
        tuple(constants),
        tuple((_signature(node), tuple(place[x] for x in node.operands)) for node in steps),
        len(nodes),
    )


def _may_warn(result: Any, nodes: list[Node]) -> bool:
    """Whether NumPy may warn of a call each time: there are no elements, or parts are lost."""
    loses = result.ref.type.dtype.kind != "c"
    return any(not n.type.size or (loses and n.type.dtype.kind == "c") for n in nodes)


def _behind(made: Node, nodes: list[Node]) -> tuple[list[Node], list[Node]]:
    """What was recorded between `nodes` and `made`, in order, and the inputs besides `nodes`."""
    found: dict[Node, None] = {}
    stack = [made]
    while stack and len(found) <= 2 * LENGTH:
        node = stack.pop()
        if node not in found and node not in nodes:
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


def _signature(node: Node) -> Signature:
    types = tuple(x.type for x in node.operands)
    return node.op.signature(types, node.op.attrs_of(node.attrs))


def _look(
    sights: dict[Key, Sight],
    key: Key,
    slow: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    x = args[0]
    result = slow(*args, **kwargs)
    if type(result) is ndarray and result is not x and result.ref.cell is x.ref:
        if len(sights) >= BOUND:
            sights.clear()
        sights[key] = Sight(result.ref.chain, result.ref.type, result._shadow)
    return result
