"""Elementwise raw ops and the gradients that TF has raw ops for."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.activations import logistic_gradient, tanh_gradient
from lazytensor.frontends.tf.dispatch.host import NotLazy
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows import checks


def number(value: Any, like: Node) -> Node:
    """A number of the dtype of `like`."""
    return scalar(value, like.type.dtype)


def greatest(like: Node) -> float:
    """The largest finite number of a dtype of floats."""
    return float(ml_dtypes.finfo(like.type.dtype).max)  # type: ignore[no-untyped-call]


def plain(op: Any) -> Function:
    """The row that is an op."""
    return lambda *xs, **_: op(*xs)


def _identity(x: Node, **_: Any) -> Node:
    return x


def _whole(op: Any) -> Function:
    """Rounding: integers are what they are."""
    return lambda x, **_: op(x) if x.type.dtype in FLOATS else x


def _cast(x: Node, *, DstT: Any, Truncate: bool = False, **_: Any) -> Node:
    if not isinstance(DstT, np.dtype):
        raise NotLazy
    if x.type.dtype == DstT:
        return x
    return ops.convert(x, dtype=DstT)


def _bitcast(x: Node, *, type: np.dtype, **_: Any) -> Node:
    return ops.bitcast(x, dtype=type)


def _div_no_nan(x: Node, y: Node, **_: Any) -> Node:
    return ops.select(ops.equal(y, number(0, y)), number(0, x), x / y)


def _mul_no_nan(x: Node, y: Node, **_: Any) -> Node:
    return ops.select(ops.equal(y, number(0, y)), number(0, x), x * y)


def _unless_zero(function: Function) -> Function:
    def row(x: Node, y: Node, **_: Any) -> Node:
        return ops.select(ops.equal(x, number(0, x)), number(0, x), function(x, y))

    return row


def _squared_difference(x: Node, y: Node, **_: Any) -> Node:
    apart = x - y
    if apart.type.dtype in COMPLEX:
        return ops.conj(apart) * apart
    return ops.square(apart)


def _floor_div(x: Node, y: Node, **_: Any) -> Node:
    if x.type.dtype in FLOATS:
        return ops.floor(x / y)
    return x // y


def _truncate_div(x: Node, y: Node, **_: Any) -> Node:
    made = x / y
    return ops.trunc(made) if x.type.dtype in FLOATS else made


def _floor_mod(x: Node, y: Node, **_: Any) -> Node:
    """The remainder. Of floats, a remainder of zero keeps its sign."""
    if x.type.dtype not in FLOATS:
        return x % y
    rest, zero = ops.remainder(x, y), number(0, x)
    apart = ops.not_equal(y < zero, rest < zero)
    other = apart & ops.not_equal(rest, zero)
    return ops.select(other, rest + y, rest)


def _digamma(x: Node, **_: Any) -> Node:
    """NaN at zero, as at the other poles."""
    return ops.select(ops.equal(x, number(0, x)), number(np.nan, x), ops.digamma(x))


def _approximate_equal(x: Node, y: Node, *, tolerance: float = 1e-5, **_: Any) -> Node:
    return ops.abs(x - y) < tolerance


def relu(x: Node, **_: Any) -> Node:
    """The positive part."""
    return ops.maximum(x, number(0, x))


def _relu6(x: Node, **_: Any) -> Node:
    return ops.minimum(relu(x), number(6, x))


def _slope(alpha: float, like: Node) -> Node:
    """The attribute, which TF has in single precision."""
    return number(float(np.float32(alpha)), like)


def _leaky_relu(x: Node, *, alpha: float = 0.2, **_: Any) -> Node:
    low = x * _slope(alpha, x)
    return ops.select(x > 0, x, low)


def _elu(x: Node, **_: Any) -> Node:
    return ops.select(x < 0, ops.expm1(x), x)


_SELU_ALPHA: Final = 1.7580993408473768599402175208123
"""scale * alpha of self-normalising networks, arXiv 1706.02515."""
_SELU_SCALE: Final = 1.0507009873554804934193349852946


def _selu(x: Node, **_: Any) -> Node:
    low = _SELU_ALPHA * ops.expm1(x)
    return ops.select(x < 0, low, _SELU_SCALE * x)


def _softplus(x: Node, **_: Any) -> Node:
    return ops.logaddexp(x, number(0, x))


def _softsign(x: Node, **_: Any) -> Node:
    return x / (1 + ops.abs(x))


def _where(inside: Node, grad: Node) -> Node:
    """What TF's kernels do: they multiply by 0 or 1, so that NaN and infinity are not lost."""
    return grad * ops.convert(inside, dtype=grad.type.dtype)


def _relu_grad(grad: Node, x: Node, **_: Any) -> Node:
    return _where(x > 0, grad)


def _relu6_grad(grad: Node, x: Node, **_: Any) -> Node:
    return _where((x > 0) & (x < 6), grad)


def _leaky_relu_grad(grad: Node, x: Node, *, alpha: float = 0.2, **_: Any) -> Node:
    low = grad * _slope(alpha, grad)
    return ops.select(x > 0, grad, low)


def _elu_grad(grad: Node, y: Node, **_: Any) -> Node:
    low = (y + 1) * grad
    return ops.select(y < 0, low, grad)


def _selu_grad(grad: Node, y: Node, **_: Any) -> Node:
    low = grad * (y + _SELU_ALPHA)
    high = grad * _SELU_SCALE
    return ops.select(y < 0, low, high)


def _softplus_grad(grad: Node, x: Node, **_: Any) -> Node:
    return grad * ops.logistic(x)


def _softsign_grad(grad: Node, x: Node, **_: Any) -> Node:
    return grad / ops.square(1 + ops.abs(x))


def _sigmoid_grad(y: Node, grad: Node, **_: Any) -> Node:
    return logistic_gradient(grad, y)


def _tanh_grad(y: Node, grad: Node, **_: Any) -> Node:
    return tanh_gradient(grad, y)


def _conj(x: Node) -> Node:
    return ops.conj(x) if x.type.dtype in COMPLEX else x


def _sqrt_grad(y: Node, grad: Node, **_: Any) -> Node:
    return grad * 0.5 / _conj(y)


def _rsqrt_grad(y: Node, grad: Node, **_: Any) -> Node:
    y = _conj(y)
    half = grad * -0.5
    return half * y * ops.square(y)


def _reciprocal_grad(y: Node, grad: Node, **_: Any) -> Node:
    return -grad * ops.square(_conj(y))


def _complex(x: Node, y: Node, **_: Any) -> Node:
    return ops.complex_(x, y)


def _angle(x: Node, **_: Any) -> Node:
    return ops.atan2(ops.imag(x), ops.real(x))


def _select(condition: Node, x: Node, y: Node, **_: Any) -> Node:
    """The condition of one axis chooses rows; of none, everything."""
    if condition.type.ndim == 1 and x.type.ndim > 1:
        shape = (condition.type.size,) + (1,) * (x.type.ndim - 1)
        condition = ops.reshape(condition, shape=shape)
    return ops.select(condition, x, y)


def _ones_like(x: Node, **_: Any) -> Node:
    one = scalar(x.type.dtype == BOOL or 1, x.type.dtype)
    return ops.broadcast(one, shape=x.type.shape)


def _zeros_like(x: Node, **_: Any) -> Node:
    zero = scalar(False if x.type.dtype == BOOL else 0, x.type.dtype)
    return ops.broadcast(zero, shape=x.type.shape)


def _add_n(xs: list[Node], **_: Any) -> Node:
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


def _clip(x: Node, low: Node, high: Node, **_: Any) -> Node:
    return ops.minimum(ops.maximum(x, low), high)


def _log(op: Any) -> Function:
    return lambda x, y: x * op(y)


ROWS: dict[str, Function] = {
    "Add": plain(ops.add), "AddV2": plain(ops.add), "Sub": plain(ops.subtract),
    "Mul": plain(ops.multiply), "RealDiv": plain(ops.divide), "Div": plain(ops.divide),
    "TruncateDiv": _truncate_div, "FloorDiv": _floor_div, "FloorMod": _floor_mod,
    "Mod": plain(ops.remainder), "TruncateMod": plain(ops.remainder), "Pow": plain(ops.power),
    "Maximum": plain(ops.maximum), "Minimum": plain(ops.minimum),
    "SquaredDifference": _squared_difference, "DivNoNan": _div_no_nan, "MulNoNan": _mul_no_nan,
    "Xdivy": _unless_zero(ops.divide), "Xlogy": _unless_zero(_log(ops.log)),
    "Xlog1py": _unless_zero(_log(ops.log1p)), "Atan2": plain(ops.atan2),
    "NextAfter": plain(ops.next_after), "Zeta": plain(ops.zeta),
    "Polygamma": plain(ops.polygamma), "Complex": _complex, "Angle": _angle,
    "Less": plain(ops.less), "LessEqual": plain(ops.less_equal),
    "Greater": plain(ops.greater), "GreaterEqual": plain(ops.greater_equal),
    "Equal": plain(ops.equal), "NotEqual": plain(ops.not_equal),
    "ApproximateEqual": _approximate_equal,
    "LogicalAnd": plain(ops.and_), "LogicalOr": plain(ops.or_), "LogicalNot": plain(ops.not_),
    "BitwiseAnd": plain(ops.and_), "BitwiseOr": plain(ops.or_), "BitwiseXor": plain(ops.xor),
    "Invert": plain(ops.not_), "LeftShift": plain(ops.shift_left),
    "RightShift": plain(ops.shift_right),
    "Abs": plain(ops.abs), "ComplexAbs": plain(ops.abs), "Neg": plain(ops.negate),
    "Sign": plain(ops.sign), "Square": plain(ops.square), "Sqrt": plain(ops.sqrt),
    "Rsqrt": plain(ops.rsqrt), "Reciprocal": plain(ops.reciprocal),
    "Inv": plain(ops.reciprocal), "Exp": plain(ops.exp), "Expm1": plain(ops.expm1),
    "Log": plain(ops.log), "Log1p": plain(ops.log1p), "Sin": plain(ops.sin),
    "Cos": plain(ops.cos), "Tan": plain(ops.tan), "Asin": plain(ops.asin),
    "Acos": plain(ops.acos), "Atan": plain(ops.atan), "Sinh": plain(ops.sinh),
    "Cosh": plain(ops.cosh), "Tanh": plain(ops.tanh), "Asinh": plain(ops.asinh),
    "Acosh": plain(ops.acosh), "Atanh": plain(ops.atanh), "Erf": plain(ops.erf),
    "Erfc": plain(ops.erfc), "Erfinv": plain(ops.erf_inv), "Lgamma": plain(ops.lgamma),
    "Digamma": _digamma,
    "Floor": _whole(ops.floor), "Ceil": _whole(ops.ceil), "Rint": _whole(ops.round_even),
    "Round": _whole(ops.round_even), "IsNan": plain(ops.is_nan), "IsInf": plain(ops.is_inf),
    "IsFinite": plain(ops.is_finite), "Real": plain(ops.real), "Imag": plain(ops.imag),
    "Conj": plain(ops.conj), "Sigmoid": plain(ops.logistic), "Softplus": _softplus,
    "Softsign": _softsign, "Relu": relu, "Relu6": _relu6, "LeakyRelu": _leaky_relu, "Elu": _elu,
    "Selu": _selu, "SigmoidGrad": _sigmoid_grad, "TanhGrad": _tanh_grad, "SqrtGrad": _sqrt_grad,
    "RsqrtGrad": _rsqrt_grad, "ReciprocalGrad": _reciprocal_grad, "InvGrad": _reciprocal_grad,
    "ReluGrad": _relu_grad, "Relu6Grad": _relu6_grad, "LeakyReluGrad": _leaky_relu_grad,
    "EluGrad": _elu_grad, "SeluGrad": _selu_grad, "SoftplusGrad": _softplus_grad,
    "SoftsignGrad": _softsign_grad, "Cast": _cast, "Bitcast": _bitcast, "Select": _select,
    "SelectV2": plain(ops.select), "ClipByValue": _clip, "OnesLike": _ones_like,
    "ZerosLike": _zeros_like, "AddN": _add_n,
    "Identity": _identity, "StopGradient": _identity, "PreventGradient": _identity,
    "Snapshot": _identity, "PlaceholderWithDefault": _identity,
}  # fmt: skip


def _check_numerics(x: Node, *, message: str = "", **_: Any) -> Node:
    finite = ops.reduce_and(ops.is_finite(x), axes=tuple(range(x.type.ndim)))
    checks.look(finite, f"{message} : Tensor had Inf or NaN values")
    return x


DIVISIONS: Final = ("FloorDiv", "FloorMod", "Mod", "TruncateMod", "TruncateDiv", "Div")


demanding = (*DIVISIONS, "Pow")
rows({name: row for name, row in ROWS.items() if name not in demanding})
rows({name: ROWS[name] for name in DIVISIONS}, demands=checks.divides)
rows({"Pow": ROWS["Pow"]}, demands=checks.raises)
rows({"CheckNumerics": _check_numerics}, moving=True)
rows({"IdentityN": lambda xs, **_: tuple(xs)})
