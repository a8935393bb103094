"""From a raw op to a node: inputs to operands, the plan for their types, the record, the tape.

A row is a function of nodes. What it records at operands of certain types, with certain
attributes, is found once: a plan. Where that is one op on these operands, the plan is its
signature; where it is several, they become one composite. So a raw op seen before is one look-up
and one node. Rows that take positions which may move (slices) are called every time, so that these
stay slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorflow.python import pywrap_tfe

from lazytensor.core.errors import DTypeError, ShapeError, Unsupported
from lazytensor.core.ir.dtypes import COMPLEX, FLOATS
from lazytensor.core.ir.memo import keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import record
from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.host import HostValue, NotLazy, host_value
from lazytensor.frontends.tf.dispatch.plans import Declaration, Function, RowPlan
from lazytensor.frontends.tf.tensors import constants
from lazytensor.frontends.tf.tensors.conversion import as_tensors, converted, kept, tape_inputs
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, node_of

REFUSED: Final = (ShapeError, DTypeError, Unsupported, TypeError, ValueError, IndexError, KeyError)
"""What a row or a type rule raises for arguments that are not its own: TF's kernel decides."""
FEW: Final = 64
"""Elements up to which integers that the host has stay with TF: they are shapes, counts, axes."""
_no_tape: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
_record: Final = pywrap_tfe.TFE_Py_RecordGradient
_ONE: Final = (False,)


class Row(Declaration):
    """A raw op that is recorded.

    `arity`: its inputs. `listed`: whether an attribute of it is a list. `takes`: of each input,
    whether its value is needed, and whether it is a list. `quick`: none is either, and there is one
    result.
    """

    __slots__ = ("arity", "listed", "plans", "quick", "takes")

    def __init__(
        self, name: str, function: Function, host: tuple[int, ...] = (), **options: Any
    ) -> None:
        super().__init__(name, function, host, **options)
        definition = self.definition
        self.plans: dict[Any, RowPlan] = memory()
        self.takes = tuple((i in host, given.is_list) for i, given in enumerate(definition.inputs))
        plain = not host and not self.moving and definition.outputs == (False,)
        self.quick = definition.simple and plain
        self.arity = definition.arity
        self.listed = definition.listed

    def __call__(self, ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
        return self.answer(ctx, name, args)

    def answer(self, ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
        """What a call gives: `args` are the inputs, and names and values of attributes."""
        if not self.quick:
            return self._with_values(ctx, name, args)
        arity = self.arity
        operands: list[Node] = []
        lazy = self.always
        for x in args[:arity]:
            kind = type(x)
            if kind is LazyTensor:
                node = x.node
                lazy = True
            elif kind is EagerTensor:
                node = getattr(x, "_lazy_node", None) or node_of(x)
                if node is None:
                    return fallback.native(self.definition, ctx, name, args)
            else:
                return self._with_numbers(ctx, name, args)
            operands.append(node)
        if not lazy and _stays(operands):
            return constants.computed(ctx, self.name, name, args, arity)
        key = (*[node.type for node in operands], self._attrs(args))
        try:
            plan = self.plans.get(key)
        except TypeError:  # an attribute that cannot be looked up
            return self.general(ctx, name, args)
        if plan is not None and plan.signature is not None:
            result: Node = record(plan.signature, tuple(operands))
        elif plan is not None and plan.picks is not None:
            result = operands[plan.picks[0]]
        else:
            return self.general(ctx, name, args, key)
        made = LazyTensor(result)
        if not _no_tape():
            _record(self.name, args[:arity], _on_tape(args[arity:], plan), [made], None)
        return made

    def _attrs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Names and values of the attributes, which a plan is found by."""
        attrs = args[self.arity :]
        if self.listed:
            attrs = tuple([tuple(v) if type(v) is list else v for v in attrs])
        return attrs

    def _with_values(self, ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
        """A call with lists of inputs or values of the host's, if it was seen before."""
        arity = self.arity
        found = self._seen(args[:arity])
        if found is None:
            return self._with_numbers(ctx, name, args)
        operands, parts, lazy = found
        if not lazy and _stays(operands):
            return constants.computed(ctx, self.name, name, args, arity)
        key = (*parts, self._attrs(args))
        try:
            plan = self.plans.get(key)
        except TypeError:  # a tensor among the host's values
            return self.general(ctx, name, args)
        if plan is None:
            return self.general(ctx, name, args, key)
        flat = None if _no_tape() else tape_inputs(args[:arity], plan.hosts)
        try:
            made = plan.run(operands)
        except REFUSED:
            made = []
        if not made:
            return self.general(ctx, name, args, key)
        outputs = [LazyTensor(node) for node in made]
        if flat is not None:
            _record(self.name, flat, _on_tape(args[arity:], plan), outputs, None)
        return outputs[0] if plan.form == _ONE else self._arranged(outputs, plan)

    def _with_numbers(self, ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
        """A call with numbers and variables among its inputs: the same with tensors."""
        arity = self.arity
        given = as_tensors(ctx, self.definition, self.takes, args[:arity])
        if given is None:
            return self.general(ctx, name, args)
        return self.answer(ctx, name, (*given, *args[arity:]))

    def _seen(self, args: Sequence[Any]) -> tuple[list[Node], list[Any], bool] | None:
        """The operands, what a plan is found by, and whether one is lazy.

        None for inputs that are to be converted, or cannot be lazy.
        """
        operands: list[Node] = []
        parts: list[Any] = []
        lazy = self.always
        for i, x in enumerate(args):
            is_host, is_list = self.takes[i]
            kind = type(x)
            if is_host:
                if kind is HostValue:
                    parts.append(x.key)
                elif kind is EagerTensor:
                    parts.append(host_value(x).key)
                elif kind is list or kind is tuple:
                    parts.append(tuple(x))
                elif kind is int:
                    parts.append(x)
                else:
                    return None
                continue
            listed = kind is list or kind is tuple
            if listed != is_list:
                return None
            if listed:
                parts.append(len(x))
            for item in x if listed else (x,):
                kind = type(item)
                if kind is LazyTensor:
                    node = item.node
                    lazy = True
                elif kind is EagerTensor:
                    node = getattr(item, "_lazy_node", None) or node_of(item)
                    if node is None:
                        return None
                else:
                    return None
                operands.append(node)
                parts.append(node.type)
        return operands, parts, lazy

    def general(self, ctx: Any, name: Any, args: tuple[Any, ...], key: Any = None) -> Any:
        """Any inputs: lists, values of the host, numbers, variables. `key`: what to find it by."""
        arity = self.arity
        attrs = args[arity:]
        try:
            inputs = converted(self.definition, self.host, args[:arity])
            found = self._seen(inputs)
        except NotLazy:
            found = None
        if found is None:
            return fallback.native(self.definition, ctx, name, args)
        operands, parts, lazy = found
        if not lazy and _stays(operands):
            return constants.computed(ctx, self.name, name, args, arity)
        if key is None:
            key = (*parts, "general", opdef.normal(attrs, ""))
        made = self._made(operands, attrs, inputs, key)
        if made is None:
            return fallback.native(self.definition, ctx, name, args)
        plan, nodes = made
        outputs = [LazyTensor(node) for node in nodes]
        if not _no_tape():
            flat = tape_inputs(kept(args, inputs), plan.hosts)
            _record(self.name, flat, _on_tape(attrs, plan), outputs, None)
        return self._arranged(outputs, plan)

    def _made(
        self,
        operands: list[Node],
        attrs: tuple[Any, ...],
        inputs: list[Any],
        key: Any,
    ) -> tuple[RowPlan, list[Node]] | None:
        """The plan and the results; None for arguments that a row does not take."""
        try:
            plan = self.plans.get(key)
            if plan is None:
                plan = RowPlan(self, operands, attrs, inputs)
                keep(self.plans, key, plan)
            return plan, plan.run(operands)
        except REFUSED:
            return None

    def _arranged(self, outputs: list[Any], plan: RowPlan) -> Any:
        form = self.definition.outputs
        if form == (False,):
            return outputs[0]
        if form == (True,):
            return outputs
        if any(form):
            rest = iter(outputs)
            return [[next(rest) for _ in range(n)] if n >= 0 else next(rest) for n in plan.lengths]
        return outputs


def _stays(operands: list[Node]) -> bool:
    """Whether TF should compute what the host has: integers that are shapes, counts or axes."""
    for node in operands:
        type = node.type
        if type.dtype in _COMPUTED or (type.size > FEW and type.ndim > 1):
            return False
    return True


_COMPUTED: Final = FLOATS | COMPLEX


def _on_tape(given: tuple[Any, ...], plan: RowPlan) -> tuple[Any, ...]:
    """The attributes for the tape, with those that TF infers from the inputs."""
    return (*given, *plan.inferred)
