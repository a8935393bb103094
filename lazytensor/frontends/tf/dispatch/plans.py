"""Plans: what a row records for operands of certain types, found once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER, signature_of
from lazytensor.core.ir.recording import Signature, record
from lazytensor.frontends.tf.dispatch import opdef
from lazytensor.frontends.tf.dispatch.host import HostValue
from lazytensor.frontends.tf.rows import checks
from lazytensor.frontends.tf.tensors.tensor import TF

Function = Callable[..., Any]


class Declaration:
    """What a row says of a raw op.

    `host` are the inputs whose values a program needs to be made (axes, shapes): arrays to
    `function`. `always`: also when all inputs are small integers of the host's. `moving`: called
    every time, for its positions are slots. `demands`: of the same arguments, what their values
    have to be (see `checks.py`).
    """

    __slots__ = ("always", "definition", "demands", "function", "host", "moving", "name")

    def __init__(
        self,
        name: str,
        function: Function,
        host: tuple[int, ...] = (),
        *,
        always: bool = False,
        moving: bool = False,
        demands: Function | None = None,
    ) -> None:
        self.name = name
        self.function = function
        self.host = host
        self.always = always
        self.moving = moving
        self.demands = demands
        found = opdef.find(name)
        if found is None:
            raise ValueError(f"TensorFlow has no raw op {name!r}")
        self.definition = found


class RowPlan:
    """What a row records for operands of certain types."""

    __slots__ = ("call", "form", "hosts", "inferred", "lengths", "picks", "signature")

    def __init__(
        self,
        row: Declaration,
        operands: list[Node],
        attrs: tuple[Any, ...],
        inputs: list[Any],
    ) -> None:
        shape = tuple(map(_form, inputs))
        self.form = row.definition.outputs
        self.inferred = _inferred(row.definition, inputs)
        self.hosts = tuple(x if isinstance(x, HostValue) else None for x in inputs)
        named = row.definition.attributes(attrs)
        self.signature: Signature | None = None
        self.picks: tuple[int, ...] | None = None
        self.call: Callable[[list[Node]], list[Node]] | None = None
        self.lengths: tuple[int, ...] = ()

        def call(nodes: list[Node] | tuple[Node, ...]) -> list[Node]:
            return _flat(row.function(*_arguments(shape, nodes), **named))

        if row.moving:
            self.call = call
            return
        given = tuple(Input(PARAMETER, node.type) for node in operands)  # no two of them are one
        tried = call(given)
        self.lengths = _lengths(row.definition, tried)
        if given and set(tried) <= set(given):
            self.picks = tuple(map(given.index, tried))
        elif len(tried) == 1 and tried[0].operands == given and tried[0].op.operands:
            self.signature = signature_of(tried[0])
        else:
            op = Composite(f"tf.{row.name}", _body(row, shape, named, len(tried) > 1))
            statics = (*(form for form in shape if isinstance(form, tuple)), *named.items())
            types = tuple(node.type for node in operands)
            self.signature = op.signature(types, {"statics": statics})
        demands = row.demands(*_arguments(shape, operands), **named) if row.demands else ()
        if demands:
            assert self.signature is not None
            run = partial(_recorded, self.signature)
            self.call, self.signature = checks.demanding(run, demands, operands), None

    def run(self, operands: list[Node]) -> list[Node]:
        """The results."""
        if self.call is not None:
            return self.call(operands)
        if self.picks is not None:
            return [operands[i] for i in self.picks]
        assert self.signature is not None
        return _recorded(self.signature, operands)


def _recorded(signature: Signature, operands: Sequence[Node]) -> list[Node]:
    if isinstance(signature.type, tuple):
        return list(signature.op(*operands, **signature.op.attrs_of(signature.attrs)))
    return [record(signature, tuple(operands))]


def _body(
    row: Declaration, shape: tuple[Any, ...], named: dict[str, Any], multiple: bool
) -> Function:
    def body(*operands: Node, statics: tuple[Any, ...]) -> Any:
        made = _flat(row.function(*_arguments(shape, operands), **named))
        return tuple(made) if multiple else made[0]

    return body


def _form(x: Any) -> Any:
    """A value of the host's, how many tensors there are in a list, or -1 for one."""
    if isinstance(x, HostValue):
        return x.key
    return len(x) if isinstance(x, list) else -1


def _arguments(shape: tuple[Any, ...], operands: Sequence[Node]) -> list[Any]:
    rest = iter(operands)
    return [_argument(form, rest) for form in shape]


def _argument(form: Any, rest: Any) -> Any:
    if isinstance(form, tuple):
        shape, elements_, dtype = form
        return np.array(elements_, dtype=dtype).reshape(shape)
    return next(rest) if form < 0 else [next(rest) for _ in range(form)]


def _flat(made: Any) -> list[Node]:
    if isinstance(made, Node):
        return [made]
    return [node for item in made for node in _flat(item)]


def _lengths(definition: opdef.OpDef, tried: list[Node]) -> tuple[int, ...]:
    if not any(definition.outputs) or len(definition.outputs) == 1:
        return ()
    lists = sum(definition.outputs)
    each = (len(tried) - len(definition.outputs) + lists) // lists
    return tuple(each if is_list else -1 for is_list in definition.outputs)


def _inferred(definition: opdef.OpDef, inputs: list[Any]) -> tuple[Any, ...]:
    """Names and values of the attributes that follow from the inputs."""
    found: dict[str, Any] = {}
    for given, x in zip(definition.inputs, inputs, strict=True):
        items = x if isinstance(x, list) else [x]
        if given.number_attr:
            found.setdefault(given.number_attr, len(items))
        if given.type_attr and items:
            found.setdefault(given.type_attr, _enum(items[0]))
        if given.type_list_attr:
            found.setdefault(given.type_list_attr, [_enum(item) for item in items])
    return tuple(part for pair in found.items() for part in pair)


def _enum(x: Any) -> int:
    if isinstance(x, HostValue):
        return int(TF[x.array.dtype].as_datatype_enum)
    return int(x._datatype_enum())
