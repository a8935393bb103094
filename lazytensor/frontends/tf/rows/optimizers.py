"""Raw ops of optimizers: a variable and its slots from a gradient, as one op of the core."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tensorflow.python.framework import ops as tf_ops

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import INTS
from lazytensor.core.ir.node import Node
from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.steps import watch_optimizers
from lazytensor.frontends.tf.dispatch.table import handle
from lazytensor.frontends.tf.rows.elementwise import number
from lazytensor.frontends.tf.rows.shapes import attr
from lazytensor.frontends.tf.tensors.tensor import TF, LazyTensor, node_of
from lazytensor.frontends.tf.tensors.variables import adopt, cell_of, handle_of

sqrt, square = ops.sqrt, ops.square
Values = tuple[Any, ...]


def _rest(x: Node) -> Any:
    return 1 - x


def _mixed(old: Node, new: Node, share: Node) -> Any:
    """A running mean that keeps `share` of the old one."""
    return old * share + new * _rest(share)


def _descent(var: Node, rate: Node, grad: Node, *, flag: bool) -> Any:
    return var - rate * grad


def _momentum(var: Node, accum: Node, rate: Node, grad: Node, keep: Node, *, flag: bool) -> Values:
    accum = accum * keep + grad
    step = grad + accum * keep if flag else accum
    return var - rate * step, accum


def _keras_momentum(
    var: Node, accum: Node, rate: Node, grad: Node, keep: Node, *, flag: bool
) -> Values:
    step = rate * grad
    accum = accum * keep - step
    return var + (accum * keep - step if flag else accum), accum


def _adam(
    var: Node, m: Node, v: Node, power1: Node, power2: Node, rate: Node, beta1: Node, beta2: Node,
    epsilon: Node, grad: Node, *, flag: bool,
) -> Values:  # fmt: skip
    m, v = _mixed(m, grad, beta1), _mixed(v, square(grad), beta2)
    step = rate * sqrt(_rest(power2)) / _rest(power1)
    ahead = _mixed(m, grad, beta1) if flag else m
    return var - ahead * step / (sqrt(v) + epsilon), m, v


def _adamax(
    var: Node, m: Node, v: Node, power1: Node, rate: Node, beta1: Node, beta2: Node, epsilon: Node,
    grad: Node, *, flag: bool,
) -> Values:  # fmt: skip
    m, v = _mixed(m, grad, beta1), ops.maximum(beta2 * v, ops.abs(grad))
    return var - rate / _rest(power1) * (m / (v + epsilon)), m, v


def _adagrad(var: Node, accum: Node, rate: Node, grad: Node, *, flag: bool) -> Values:
    accum = accum + square(grad) if flag else accum
    return var - rate * grad / sqrt(accum), accum


def _adagrad2(
    var: Node, accum: Node, rate: Node, epsilon: Node, grad: Node, *, flag: bool
) -> Values:
    accum = accum + square(grad) if flag else accum
    return var - rate * grad / (sqrt(accum) + epsilon), accum


def _adadelta(
    var: Node, accum: Node, updates: Node, rate: Node, rho: Node, epsilon: Node, grad: Node, *,
    flag: bool,
) -> Values:  # fmt: skip
    accum = _mixed(accum, square(grad), rho)
    step = sqrt(updates + epsilon) / sqrt(accum + epsilon) * grad
    return var - rate * step, accum, _mixed(updates, square(step), rho)


def _rmsprop(
    var: Node, ms: Node, mom: Node, rate: Node, rho: Node, keep: Node, epsilon: Node, grad: Node, *,
    flag: bool,
) -> Values:  # fmt: skip
    ms = _mixed(ms, square(grad), rho)
    mom = mom * keep + rate * grad / sqrt(ms + epsilon)
    return var - mom, ms, mom


def _centered(
    var: Node, mg: Node, ms: Node, mom: Node, rate: Node, rho: Node, keep: Node, epsilon: Node,
    grad: Node, *, flag: bool,
) -> Values:  # fmt: skip
    mg, ms = _mixed(mg, grad, rho), _mixed(ms, square(grad), rho)
    spread = ms - square(mg) + epsilon
    mom = mom * keep + rate * grad / sqrt(spread)
    return var - mom, mg, ms, mom


def _agreement(m: Node, grad: Node) -> Any:
    return ops.sign(grad) * ops.sign(m)


def _add_sign(
    var: Node, m: Node, rate: Node, alpha: Node, decay: Node, beta: Node, grad: Node, *, flag: bool
) -> Values:
    m = _mixed(m, grad, beta)
    factor = alpha + decay * _agreement(m, grad)
    return var - rate * (factor * grad), m


def _power_sign(
    var: Node, m: Node, rate: Node, base: Node, decay: Node, beta: Node, grad: Node, *, flag: bool
) -> Values:
    m = _mixed(m, grad, beta)
    factor = ops.exp(base * decay * _agreement(m, grad))
    return var - rate * (factor * grad), m


def _shrunk(x: Node, by: Node) -> Any:
    return ops.sign(x) * ops.maximum(ops.abs(x) - by, number(0, x))


def _proximal(var: Node, rate: Node, l1: Node, l2: Node, grad: Node, *, flag: bool) -> Any:
    near = var - rate * grad
    return _shrunk(near, rate * l1) / (1 + rate * l2)


def _proximal_adagrad(
    var: Node, accum: Node, rate: Node, l1: Node, l2: Node, grad: Node, *, flag: bool
) -> Values:
    accum = accum + square(grad)
    return _proximal(var, rate / sqrt(accum), l1, l2, grad, flag=flag), accum


def _dual_averaging(
    var: Node, total: Node, squares: Node, grad: Node, rate: Node, l1: Node, l2: Node, count: Node,
    *, flag: bool,
) -> Values:  # fmt: skip
    total, squares = total + grad, squares + square(grad)
    spread = l2 * count * rate + sqrt(squares)
    near = -_shrunk(total, l1 * count)
    return rate * near / spread, total, squares


def _ftrl(
    var: Node, accum: Node, linear: Node, grad: Node, rate: Node, l1: Node, l2: Node,
    power: Node, *, flag: bool,
) -> Values:  # fmt: skip
    return _followed(var, accum, linear, grad, grad, rate, l1, l2, power, flag)


def _ftrl2(
    var: Node, accum: Node, linear: Node, grad: Node, rate: Node, l1: Node, l2: Node,
    shrinkage: Node, power: Node, *, flag: bool,
) -> Values:  # fmt: skip
    slope = grad + 2 * shrinkage * var
    return _followed(var, accum, linear, grad, slope, rate, l1, l2, power, flag)


def _followed(
    var: Node, accum: Node, linear: Node, grad: Node, slope: Node, rate: Node, l1: Node, l2: Node,
    power: Node, scaled: bool,
) -> Values:  # fmt: skip
    """Follow the regularised leader; `scaled`: `linear` is kept multiplied by the rate."""
    after = accum + square(grad)
    old, new = (x ** (-power) for x in (accum, after))
    if scaled:
        linear = linear + slope * rate - (new - old) * var
        bound, spread = l1 * rate, new + 2 * l2 * rate
    else:
        linear = linear + slope - (new - old) / rate * var
        bound, spread = l1, new / rate + 2 * l2
    return -_shrunk(linear, bound) / spread, after, linear


class Update(NamedTuple):
    """A raw op: the new values as a function of the old ones and the given; how many slots.

    `flag`: the attribute that is passed on; `default` is what it is unless it is given.
    """

    function: Any
    slots: int
    flag: str = ""
    default: bool = False


UPDATES: Final = {
    "GradientDescent": Update(_descent, 0),
    "Momentum": Update(_momentum, 1, "use_nesterov"),
    "KerasMomentum": Update(_keras_momentum, 1, "use_nesterov"),
    "Adam": Update(_adam, 2, "use_nesterov"),
    "AdaMax": Update(_adamax, 2),
    "Adagrad": Update(_adagrad, 1, "update_slots", True),
    "AdagradV2": Update(_adagrad2, 1, "update_slots", True),
    "Adadelta": Update(_adadelta, 2),
    "RMSProp": Update(_rmsprop, 2),
    "CenteredRMSProp": Update(_centered, 3),
    "AddSign": Update(_add_sign, 1),
    "PowerSign": Update(_power_sign, 1),
    "ProximalGradientDescent": Update(_proximal, 0),
    "ProximalAdagrad": Update(_proximal_adagrad, 1),
    "AdagradDA": Update(_dual_averaging, 2),
    "Ftrl": Update(_ftrl, 2, "multiply_linear_by_lr"),
    "FtrlV2": Update(_ftrl2, 2, "multiply_linear_by_lr"),
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
