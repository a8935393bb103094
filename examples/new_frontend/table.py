"""The standard's functions, a row each: what is the same is a row, what differs is a function."""

from lazytensor.core import ops

from .array import Array, together, wrap


def elementwise(op):
    """A function of arrays that are promoted and broadcast."""
    return lambda *xs: wrap(op(*together(*xs)))


def reduction(op):
    """A function over all axes, or one."""

    def function(x, *, axis=None, keepdims=False):
        axes = tuple(range(x.ndim)) if axis is None else (axis % x.ndim,)
        node = op(x.ref.node, axes=axes)
        kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
        made = wrap(node)
        return made.view(ops.reshape_step(kept)) if keepdims else made

    return function


def where(condition, x, y):
    """Elements of `x` where the condition holds, else of `y`."""
    return wrap(ops.select(condition.ref.node, *together(x, y)))


def matmul(x, y):
    """The matrix product."""
    return wrap(ops.dot_general(*together(x, y), contract=((x.ndim - 1,), (y.ndim - 2,))))


def reshape(x, shape):
    """The same elements in another shape."""
    return wrap(ops.reshape(x.ref.node, shape=tuple(shape)))


def permute_dims(x, axes):
    """The same elements with the axes in another order: a view."""
    return x.view(ops.transpose_step(tuple(axes)))


ELEMENTWISE = {
    "abs": ops.abs, "negative": ops.negate, "sign": ops.sign, "square": ops.square,
    "floor": ops.floor, "ceil": ops.ceil, "trunc": ops.trunc, "round": ops.round_even,
    "exp": ops.exp, "expm1": ops.expm1, "log": ops.log, "log1p": ops.log1p, "log2": ops.log2,
    "sqrt": ops.sqrt, "sin": ops.sin, "cos": ops.cos, "tan": ops.tan, "tanh": ops.tanh,
    "sinh": ops.sinh, "cosh": ops.cosh, "asin": ops.asin, "acos": ops.acos, "atan": ops.atan,
    "isfinite": ops.is_finite, "isinf": ops.is_inf, "isnan": ops.is_nan,
    "add": ops.add, "subtract": ops.subtract, "multiply": ops.multiply, "divide": ops.divide,
    "pow": ops.power, "atan2": ops.atan2, "hypot": ops.hypot, "logaddexp": ops.logaddexp,
    "maximum": ops.maximum, "minimum": ops.minimum, "copysign": ops.copysign,
    "equal": ops.equal, "not_equal": ops.not_equal, "less": ops.less,
    "less_equal": ops.less_equal, "greater": ops.greater, "greater_equal": ops.greater_equal,
}  # fmt: skip
FUNCTIONS = {
    **{name: elementwise(op) for name, op in ELEMENTWISE.items()},
    "sum": reduction(ops.reduce_sum),
    "prod": reduction(ops.reduce_prod),
    "max": reduction(ops.reduce_max),
    "min": reduction(ops.reduce_min),
    "where": where,
    "matmul": matmul,
    "reshape": reshape,
    "permute_dims": permute_dims,
}
OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow",
    "matmul": "matmul", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "eq": "equal", "ne": "not_equal", "neg": "negative", "abs": "abs",
}  # fmt: skip

for _name, _function in OPERATORS.items():
    setattr(Array, f"__{_name}__", lambda *xs, name=_function: FUNCTIONS[name](*xs))
    setattr(Array, f"__r{_name}__", lambda x, y, name=_function: FUNCTIONS[name](y, x))
