"""Steps of optimizers: new values of a variable and its state from the old ones and a gradient.

Operands: the variable and its state, floats of one type; numbers, 0-d, and the gradient, of their
dtype. Result: the new variable, or it and its new state.
"""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import like

sqrt = ops.sqrt

square = ops.square

Values = tuple[Any, ...]


def _rest(x: Node) -> Any:
    return 1 - x


def _mixed(old: Node, new: Node, share: Node) -> Any:
    """A running mean that keeps `share` of the old one."""
    return old * share + new * _rest(share)


def descent(var: Node, rate: Node, grad: Node, *, flag: bool) -> Any:
    """Gradient descent."""
    return var - rate * grad


def momentum(var: Node, accum: Node, rate: Node, grad: Node, keep: Node, *, flag: bool) -> Values:
    """Descent with momentum: the state collects gradients. flag: look ahead (Nesterov)."""
    accum = accum * keep + grad
    step = grad + accum * keep if flag else accum
    return var - rate * step, accum


def momentum_ahead(
    var: Node, accum: Node, rate: Node, grad: Node, keep: Node, *, flag: bool
) -> Values:
    """Descent with momentum whose state collects steps. flag: look ahead."""
    step = rate * grad
    accum = accum * keep - step
    return var + (accum * keep - step if flag else accum), accum


def adam(
    var: Node, m: Node, v: Node, power1: Node, power2: Node, rate: Node, beta1: Node, beta2: Node,
    epsilon: Node, grad: Node, *, flag: bool,
) -> Values:  # fmt: skip
    """Kingma and Ba, arXiv 1412.6980. power1, power2: powers of the betas. flag: look ahead."""
    m, v = _mixed(m, grad, beta1), _mixed(v, square(grad), beta2)
    step = rate * sqrt(_rest(power2)) / _rest(power1)
    ahead = _mixed(m, grad, beta1) if flag else m
    return var - ahead * step / (sqrt(v) + epsilon), m, v


def adamax(
    var: Node, m: Node, v: Node, power1: Node, rate: Node, beta1: Node, beta2: Node, epsilon: Node,
    grad: Node, *, flag: bool,
) -> Values:  # fmt: skip
    """Adam with the largest gradient in the place of its root: arXiv 1412.6980, section 7.1."""
    m, v = _mixed(m, grad, beta1), ops.maximum(beta2 * v, ops.abs(grad))
    return var - rate / _rest(power1) * (m / (v + epsilon)), m, v


def adagrad(var: Node, accum: Node, rate: Node, grad: Node, *, flag: bool) -> Values:
    """Duchi, Hazan and Singer (2011), JMLR 12:2121. flag: the state follows the gradient."""
    accum = accum + square(grad) if flag else accum
    return var - rate * grad / sqrt(accum), accum


def adagrad_epsilon(
    var: Node, accum: Node, rate: Node, epsilon: Node, grad: Node, *, flag: bool
) -> Values:
    """`adagrad` with a number added to the root."""
    accum = accum + square(grad) if flag else accum
    return var - rate * grad / (sqrt(accum) + epsilon), accum


def adadelta(
    var: Node, accum: Node, updates: Node, rate: Node, rho: Node, epsilon: Node, grad: Node, *,
    flag: bool,
) -> Values:  # fmt: skip
    """Zeiler, arXiv 1212.5701."""
    accum = _mixed(accum, square(grad), rho)
    step = sqrt(updates + epsilon) / sqrt(accum + epsilon) * grad
    return var - rate * step, accum, _mixed(updates, square(step), rho)


def rmsprop(
    var: Node, ms: Node, mom: Node, rate: Node, rho: Node, keep: Node, epsilon: Node, grad: Node, *,
    flag: bool,
) -> Values:  # fmt: skip
    """Descent divided by the root of a running mean of squares, with momentum."""
    ms = _mixed(ms, square(grad), rho)
    mom = mom * keep + rate * grad / sqrt(ms + epsilon)
    return var - mom, ms, mom


def rmsprop_centered(
    var: Node, mg: Node, ms: Node, mom: Node, rate: Node, rho: Node, keep: Node, epsilon: Node,
    grad: Node, *, flag: bool,
) -> Values:  # fmt: skip
    """`rmsprop` with the running variance in the place of the mean of squares."""
    mg, ms = _mixed(mg, grad, rho), _mixed(ms, square(grad), rho)
    spread = ms - square(mg) + epsilon
    mom = mom * keep + rate * grad / sqrt(spread)
    return var - mom, mg, ms, mom


def _agreement(m: Node, grad: Node) -> Any:
    return ops.sign(grad) * ops.sign(m)


def add_sign(
    var: Node, m: Node, rate: Node, alpha: Node, decay: Node, beta: Node, grad: Node, *, flag: bool
) -> Values:
    """Bello et al., arXiv 1709.07417: steps grow where gradient and momentum agree."""
    m = _mixed(m, grad, beta)
    factor = alpha + decay * _agreement(m, grad)
    return var - rate * (factor * grad), m


def power_sign(
    var: Node, m: Node, rate: Node, base: Node, decay: Node, beta: Node, grad: Node, *, flag: bool
) -> Values:
    """Bello et al., arXiv 1709.07417: steps are multiplied where gradient and momentum agree."""
    m = _mixed(m, grad, beta)
    factor = ops.exp(base * decay * _agreement(m, grad))
    return var - rate * (factor * grad), m


def _shrunk(x: Node, by: Node) -> Any:
    return ops.sign(x) * ops.maximum(ops.abs(x) - by, like(0, x))


def proximal_descent(var: Node, rate: Node, l1: Node, l2: Node, grad: Node, *, flag: bool) -> Any:
    """Descent with penalties l1 and l2: Duchi and Singer (2009), JMLR 10:2899."""
    near = var - rate * grad
    return _shrunk(near, rate * l1) / (1 + rate * l2)


def proximal_adagrad(
    var: Node, accum: Node, rate: Node, l1: Node, l2: Node, grad: Node, *, flag: bool
) -> Values:
    """`adagrad` with penalties l1 and l2."""
    accum = accum + square(grad)
    return proximal_descent(var, rate / sqrt(accum), l1, l2, grad, flag=flag), accum


def dual_averaging(
    var: Node, total: Node, squares: Node, grad: Node, rate: Node, l1: Node, l2: Node, count: Node,
    *, flag: bool,
) -> Values:  # fmt: skip
    """Dual averaging with the steps of Adagrad, and penalties l1 and l2."""
    total, squares = total + grad, squares + square(grad)
    spread = l2 * count * rate + sqrt(squares)
    near = -_shrunk(total, l1 * count)
    return rate * near / spread, total, squares


def ftrl(
    var: Node, accum: Node, linear: Node, grad: Node, rate: Node, l1: Node, l2: Node,
    power: Node, *, flag: bool,
) -> Values:  # fmt: skip
    """Follow the regularized leader: McMahan et al. (2013), doi 10.1145/2487575.2488200."""
    return _followed(var, accum, linear, grad, grad, rate, l1, l2, power, flag)


def ftrl_shrinkage(
    var: Node, accum: Node, linear: Node, grad: Node, rate: Node, l1: Node, l2: Node,
    shrinkage: Node, power: Node, *, flag: bool,
) -> Values:  # fmt: skip
    """`ftrl` with a penalty on the size of the variable."""
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


def _one(x: Node) -> Node:
    return like(1.0, x)


@one_node
def adam_decayed(
    x: Node,
    grad: Node,
    mean: Node,
    square: Node,
    step: Node,
    lr: Node,
    beta1: Node,
    beta2: Node,
    decay: Node,
    eps: Node,
    *most: Node,
    decoupled: bool,
) -> tuple[Node, ...]:
    """The parameter and its state after a step of Adam, `most` being what amsgrad keeps."""
    decayed = decay * x
    if decoupled:
        x = x - lr * decayed
    else:
        grad = grad + decayed
    mean = mean + (_one(x) - beta1) * (grad - mean)
    fresh = (_one(x) - beta2) * ops.square(grad)
    square = beta2 * square + fresh
    rest1, rest2 = (_one(x) - beta**step for beta in (beta1, beta2))
    kept = [ops.maximum(most[0], square)] if most else []
    root = ops.sqrt(kept[0] if kept else square) / ops.sqrt(rest2)
    pace = lr / rest1
    moved = x - pace * (mean / (root + eps))
    return moved, mean, square, *kept


@one_node
def descent_decayed(
    x: Node,
    grad: Node,
    lr: Node,
    decay: Node,
    momentum: Node,
    damping: Node,
    *buffer: Node,
    nesterov: bool,
    first: bool,
) -> tuple[Node, ...]:
    """The parameter, and the buffer if there is momentum, after a step of descent."""
    grad = grad + decay * x
    kept = []
    if buffer:
        fresh = (_one(x) - damping) * grad
        kept = [grad if first else momentum * buffer[0] + fresh]
        grad = grad + momentum * kept[0] if nesterov else kept[0]
    return x - lr * grad, *kept


@one_node
def adagrad_decayed(
    x: Node, grad: Node, total: Node, step: Node, lr: Node, fade: Node, decay: Node, eps: Node
) -> tuple[Node, ...]:
    """The parameter, and the sum of the gradients' squares, after a step of Adagrad."""
    grad = grad + decay * x
    before = step - _one(x)
    pace = lr / (_one(x) + before * fade)
    total = total + ops.square(grad)
    moved = grad / (ops.sqrt(total) + eps)
    return x - pace * moved, total


ADAM_OPERANDS: Final = 4
"""Operands a parameter has: itself, its gradient, two moments; with amsgrad one more."""

ADAM_NUMBERS: Final = 7


@one_node
def adam_steps(*given: Node, amsgrad: bool, decay: str, maximize: bool) -> tuple[Node, ...]:
    """Parameters and moments after a step.

    given: ADAM_NUMBERS numbers, then for each parameter itself, its gradient, its moments.
    `decay`: "" for none, "own" for that of AdamW, "gradient" for Adam's. Result: for each parameter
    itself and its moments.
    """
    share, beta2, fresh, root, eps, pace, decayed = given[:ADAM_NUMBERS]
    width = ADAM_OPERANDS + amsgrad
    made: list[Node] = []
    for at in range(ADAM_NUMBERS, len(given), width):
        x, grad, mean, square, *most = given[at : at + width]
        grad = -grad if maximize else grad
        if decay == "own":
            x = x * decayed
        elif decay:
            grad = grad + x * decayed
        mean = ops.lerp(mean, grad, share)
        square = ops.add_product(square * beta2, grad, grad, fresh)
        kept = [ops.maximum(most[0], square)] if amsgrad else []
        spread = ops.sqrt(kept[0] if kept else square) / root + eps
        made += [ops.add_quotient(x, mean, spread, pace), mean, square, *kept]
    return tuple(made)


SGD_NUMBERS: Final = 4


@one_node
def sgd_steps(*given: Node, momentum: bool, decay: bool, maximize: bool) -> tuple[Node, ...]:
    """Parameters, and their momentum if there is one, after a step.

    given: weight decay, momentum, the share of the gradient in it, and the negative learning rate;
    then for each parameter itself, its gradient, its momentum. Result: for each parameter itself
    and its momentum.
    """
    decayed, kept, share, pace = given[:SGD_NUMBERS]
    made: list[Node] = []
    width = 2 + momentum
    for at in range(SGD_NUMBERS, len(given), width):
        x, grad, *state = given[at : at + width]
        grad = -grad if maximize else grad
        if decay:
            grad = grad + x * decayed
        if momentum:
            grad = state[0] * kept + grad * share
        made += [x + grad * pace, *([grad] if momentum else [])]
    return tuple(made)
