"""Ops: a type rule, declared once, and the tables keyed by op.

An op is declared by writing its type rule: positional parameters are the operands' types,
keyword-only parameters are static attributes, the result is the type of the result. The decorated
name records a node when it is called with nodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, overload

import numpy as np

from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.dtypes import DTypes, short_name
from lazytensor.core.ir.node import (
    OPERATORS,
    Input,
    Node,
    ResultNode,
    TupleNode,
    record_several,
)
from lazytensor.core.ir.recording import Signature, here, locate, number, record
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import ResultType, TensorType, tensor_type

Attrs = tuple[Any, ...]
TypeRule = Callable[..., ResultType]

if TYPE_CHECKING:  # the default of a type variable came with Python 3.13
    from typing_extensions import TypeVar as _TypeVar

    R = _TypeVar("R", default=Node)
else:
    R = TypeVar("R")

_type_of = attrgetter("type")
_SIGNATURES_KEPT: Final = 50_000


class Op(Generic[R]):
    """A declared operation. Calling it with nodes records a node, or a tuple of them.

    Its type says which: `Op` is one with a node, `Op[tuple[Node, Node]]` one with a pair.
    """

    def __init__(self, name: str, rule: TypeRule, *traits: Trait) -> None:
        parameters = inspect.signature(rule).parameters.values()
        self.name = name
        self.rule = rule
        self.traits = frozenset(traits)
        self.operands = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
        self.attributes = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.signatures: dict[tuple[Any, ...], Signature] = {}
        self.__doc__ = rule.__doc__

    def __call__(self, *operands: Node, **attrs: Any) -> R:
        count = len(operands)
        if count == 2:  # one or two operands, most often: `map` takes four times as long
            types: tuple[TensorType, ...] = operands[0].type, operands[1].type
        elif count == 1:
            types = (operands[0].type,)
        else:
            types = tuple(map(_type_of, operands))
        key = (types, *attrs.items()) if attrs else types
        try:
            signature = self.signatures[key]
        except KeyError:
            signature = self._infer(key, types, attrs)
        if type(signature.type) is not tuple:
            return record(signature, operands)  # type: ignore[return-value]
        return several(signature, operands)  # type: ignore[return-value]

    def signature(self, types: tuple[TensorType, ...], attrs: dict[str, Any]) -> Signature:
        """The op at operands of these types, with the type of the result."""
        key = (types, *attrs.items()) if attrs else types
        found = self.signatures.get(key)
        return self._infer(key, types, attrs) if found is None else found

    def infer(self, *types: TensorType, **attrs: Any) -> ResultType:
        """The type of the result, without recording."""
        return cast(ResultType, self.signature(types, attrs).type)

    def _infer(
        self, key: tuple[Any, ...], types: tuple[TensorType, ...], attrs: dict[str, Any]
    ) -> Signature:
        for name in attrs.keys() - set(self.attributes):
            raise TypeError(f"{self.name}: no attribute {name!r}, has {self.attributes}")
        result = self.rule(*types, **attrs)
        values = tuple(attrs[a] if a in attrs else self.defaults[a] for a in self.attributes)
        if len(self.signatures) > _SIGNATURES_KEPT:
            self.signatures.clear()
        first = result[0] if isinstance(result, tuple) else result
        work = first.moving if Trait.MOVES in self.traits else first.work
        found = self.signatures[key] = Signature(self, values, result, work)
        return found

    def attrs_of(self, values: Attrs) -> dict[str, Any]:
        """A node's attribute values by name."""
        return dict(zip(self.attributes, values, strict=True))

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        return find_op, (self.name,)


def signature_of(node: Node) -> Signature:
    """The signature that a pending node was made of."""
    return node.op.signature(tuple([x.type for x in node.operands]), node.op.attrs_of(node.attrs))


_registry: dict[str, Op[Any]] = {}
_Declared = TypeVar("_Declared", bound=Op[Any])


def register(op: _Declared) -> _Declared:
    """Put an op into the table of ops. Raises: ValueError if its name is taken."""
    if op.name in _registry:
        raise ValueError(f"an op named {op.name!r} is declared already")
    _registry[op.name] = op
    return op


Pair = tuple[TensorType, TensorType]
Triple = tuple[TensorType, TensorType, TensorType]


@overload
def primitive(rule: Callable[..., TensorType]) -> Op: ...
@overload
def primitive(rule: Callable[..., Pair]) -> Op[tuple[Node, Node]]: ...
@overload
def primitive(rule: Callable[..., Triple]) -> Op[tuple[Node, Node, Node]]: ...
def primitive(rule: TypeRule) -> Op[Any]:
    """Declare a primitive op by its type rule."""
    return variadic(rule)


def variadic(rule: TypeRule) -> Op[Any]:
    """Declare a primitive op whose operands say how many results it has."""
    return register(Op(rule.__name__.rstrip("_"), rule))


def named(name: str, rule: TypeRule, doc: str, *traits: Trait) -> Op:
    """Declare an elementwise op, whose rule is shared with others, by name."""
    op: Op = register(Op(name, rule, Trait.ELEMENTWISE, *traits))
    op.__doc__ = doc
    return op


def traits(*given: Trait) -> Callable[[_Declared], _Declared]:
    """Declare an op with these traits."""

    def declared(op: _Declared) -> _Declared:
        op.traits |= frozenset(given)
        return op

    return declared


def find_op(name: str) -> Op[Any]:
    """The op of this name."""
    return _registry[name]


def all_ops() -> tuple[Op[Any], ...]:
    """Every declared op, in the order of declaration."""
    return tuple(_registry.values())


def check_dtype(op: str, allowed: DTypes, *types: TensorType) -> np.dtype:
    """The one dtype of all `types`, which must be among `allowed`."""
    dtype = types[0].dtype
    for type in types:
        if type.dtype is not dtype and type.dtype != dtype:
            given = ", ".join(map(str, types))
            raise DTypeError(f"{op}: operands must have one dtype, got {given}")
    if dtype not in allowed:
        names = " ".join(sorted(map(short_name, allowed)))
        raise DTypeError(f"{op}: operands must be of {names}, got {', '.join(map(str, types))}")
    return dtype


@traits(Trait.SHOWS)
@primitive
def element(x: Any, *, index: int) -> TensorType:
    """Result number `index` of an op with several results. x: such a node. Result: its type."""
    return cast(TensorType, x[index])


def _parts(signature: Signature) -> tuple[Signature, ...]:
    """What picks each of several results: hashing their types each time would be quadratic."""
    types = (signature.type,)
    picks = (element.signature(types, {"index": i}) for i in range(len(signature.type)))
    signature.parts = tuple(picks)
    return signature.parts


def several(signature: Signature, operands: tuple[Node, ...]) -> tuple[ResultNode, ...]:
    """The results of an op with several, recorded."""
    return record_several(signature, operands, signature.parts or _parts(signature))


def elements(node: Node) -> list[Node]:
    """The results of a node with several, as far as they are still in use and pending."""
    if type(node) is not TupleNode:
        return []
    return [part for r in node.parts if (part := r()) is not None and part.value is None]


@primitive
def parameter() -> TensorType:
    """An input of a program: a leaf's buffer, or an operand of a composite's body."""
    raise AssertionError("parameters are made by `leaf`, never recorded")


@primitive
def slot() -> TensorType:
    """A scalar input of a program whose value is outside the program's identity."""
    raise AssertionError("slots are made by `slot` and `starts`, never recorded")


@primitive
def datum() -> TensorType:
    """A slot that is data from the first run on: it is known to differ from run to run."""
    raise AssertionError("data are made by `varying`, never recorded")


PARAMETER: Final = parameter
SLOT: Final = slot
DATUM: Final = datum
OPERATORS["slot"] = slot
_STARTS: Final = [tensor_type(np.dtype(np.int64), (n,)) for n in range(65)]
"""The types of vectors of starts, by length; NumPy's arrays have at most 64 axes."""


def leaf(value: Any, type: TensorType | None = None) -> Node:
    """A node that has its value: a NumPy array that nobody will write to, or a device buffer."""
    here().fuses = False
    made = Input.__new__(Input)  # as `Input(…)` does, but in C
    made.op = PARAMETER
    made.operands = made.attrs = ()
    made.type = type or tensor_type(value.dtype, value.shape)
    made.value = value
    number(made)
    locate(made)
    return made


def scalar(value: bool | int | float | complex, dtype: np.dtype) -> Node:
    """A number whose value stays outside a program's identity.

    `value` is a Python number that `dtype` holds; the frontend checks and converts.
    """
    return Input(SLOT, tensor_type(dtype), value)


def varying(value: bool | int | float | complex | tuple[int, ...], dtype: np.dtype) -> Node:
    """A number or a vector that is known to differ from run to run: it is never compiled in."""
    shape = (len(value),) if isinstance(value, tuple) else ()
    return Input(DATUM, tensor_type(dtype, shape), value)


def starts(values: tuple[int, ...]) -> Node:
    """A vector `s64[n]` of slots: where a slice starts."""
    return Input(SLOT, _STARTS[len(values)], values)
