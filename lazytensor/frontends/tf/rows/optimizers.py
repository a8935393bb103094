"""Raw ops of optimizers: a variable and its slots from a gradient, as one op of the core."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tensorflow.python.framework import ops as tf_ops

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import INTS
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.optimizers import (
    adadelta,
    adagrad,
    adagrad_epsilon,
    adam,
    adamax,
    add_sign,
    descent,
    dual_averaging,
    ftrl,
    ftrl_shrinkage,
    momentum,
    momentum_ahead,
    power_sign,
    proximal_adagrad,
    proximal_descent,
    rmsprop,
    rmsprop_centered,
)
from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.steps import watch_optimizers
from lazytensor.frontends.tf.dispatch.table import handle
from lazytensor.frontends.tf.rows.shapes import attr
from lazytensor.frontends.tf.tensors.tensor import TF, LazyTensor, node_of
from lazytensor.frontends.tf.tensors.variables import adopt, cell_of, handle_of


class Update(NamedTuple):
    """A raw op: the new values as a function of the old ones and the given; how many slots.

    `flag`: the attribute that is passed on; `default` is what it is unless it is given.
    """

    function: Any
    slots: int
    flag: str = ""
    default: bool = False


UPDATES: Final = {
    "GradientDescent": Update(descent, 0),
    "Momentum": Update(momentum, 1, "use_nesterov"),
    "KerasMomentum": Update(momentum_ahead, 1, "use_nesterov"),
    "Adam": Update(adam, 2, "use_nesterov"),
    "AdaMax": Update(adamax, 2),
    "Adagrad": Update(adagrad, 1, "update_slots", True),
    "AdagradV2": Update(adagrad_epsilon, 1, "update_slots", True),
    "Adadelta": Update(adadelta, 2),
    "RMSProp": Update(rmsprop, 2),
    "CenteredRMSProp": Update(rmsprop_centered, 3),
    "AddSign": Update(add_sign, 1),
    "PowerSign": Update(power_sign, 1),
    "ProximalGradientDescent": Update(proximal_descent, 0),
    "ProximalAdagrad": Update(proximal_adagrad, 1),
    "AdagradDA": Update(dual_averaging, 2),
    "Ftrl": Update(ftrl, 2, "multiply_linear_by_lr"),
    "FtrlV2": Update(ftrl_shrinkage, 2, "multiply_linear_by_lr"),
}
"""By what follows `ResourceApply` in the raw op's name."""


def _handler(name: str, update: Update) -> Any:
    definition = opdef.find(name)
    assert definition is not None
    op = Composite(f"tf.{name}", update.function)
    arity, count = definition.arity, update.slots + 1

    def handler(ctx: Any, label: Any, args: tuple[Any, ...]) -> Any:
        handles = [handle_of(x) for x in args[:count]]
        given = args[count:arity]
        dtype = next((x.dtype for x in given if type(x) is LazyTensor), None)
        known = [cell_of(h) or (dtype and adopt(ctx, h, dtype)) for h in handles]
        cells = [cell for cell in known if cell is not None]
        nodes = _nodes(given, cells[0].node) if len(cells) == count else None
        if nodes is None:
            return fallback.native(definition, ctx, label, args)
        flag = bool(attr(args, arity, update.flag, update.default))
        made = op(*(cell.node for cell in cells), *nodes, flag=flag)
        made = made if isinstance(made, tuple) else (made,)
        if any(new.type is not cell.node.type for new, cell in zip(made, cells, strict=True)):
            return fallback.native(definition, ctx, label, args)
        for cell, new in zip(cells, made, strict=True):
            cell.write(new)
        watch_optimizers()
        return None

    return handler


def _nodes(given: tuple[Any, ...], like: Node) -> list[Node] | None:
    """The operands in the variable's dtype; None for what has another and is no count of steps."""
    found = []
    for x in given:
        if not hasattr(x, "_datatype_enum"):
            x = tf_ops.convert_to_tensor(x, dtype=TF[like.type.dtype])
        node = node_of(x)
        if node is not None and node.type.dtype in INTS:
            node = ops.convert(node, dtype=like.type.dtype)
        if node is None or node.type.dtype != like.type.dtype:
            return None
        found.append(node)
    return found


for _name, _update in UPDATES.items():
    if opdef.find(f"ResourceApply{_name}") is not None:
        handle(f"ResourceApply{_name}", _handler(f"ResourceApply{_name}", _update))
