"""What random NumPy programs are made of: small functions of a module `np` and a pool of arrays.

Each is run with NumPy and with ours. All arithmetic is exact (small whole numbers, clamped after
every step), so results must be equal to the bit, whatever the order of additions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

DTYPES = ["float64", "int64", "float32", "bool", "int8", "uint8", "int32", "uint32", "float16"]
SHAPES = [(4,), (3, 4), (2, 3, 4), (), (1, 4), (3, 1), (0, 3), (5,), (4, 3), (1,)]
SCALARS: list[Any] = [2, -1, 3.0, True, 0, 1.5, "int8:3", "float32:2", "int64:-2", "bool:0"]


class Action(NamedTuple):
    """One line of a program: what to do, and numbers to choose operands and attributes by."""

    name: str
    a: int
    b: int
    c: int


Pool = list[Any]
Rule = Callable[[Any, Pool, Action], Any]
RULES: dict[str, Rule] = {}
"""Per action: what it does. It may return a new array for the pool."""


def rule(function: Rule) -> Rule:
    """Enter a function into the table."""
    RULES[function.__name__] = function
    return function


def pick(pool: Pool, number: int) -> Any:
    """One of the arrays; the newest are 0, 1, …"""
    return pool[-1 - number % len(pool)]


def number(np: Any, at: int) -> Any:
    """A Python or a NumPy scalar."""
    found = SCALARS[at % len(SCALARS)]
    if isinstance(found, str):
        dtype, value = found.split(":")
        return getattr(np, dtype + "_" * (dtype == "bool"))(int(value))
    return found


def values(np: Any, shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Some small numbers, or flags."""
    size = 1
    for n in shape:
        size *= n
    numbers = (np.arange(size) * (2 * seed + 1) + seed) % 11
    if not dtype.startswith(("u", "bool")):
        numbers = numbers - 5
    return (numbers > 3 if dtype == "bool" else numbers).astype(dtype).reshape(shape)


def small(np: Any, x: Any) -> Any:
    """`x` with all numbers small enough for exact arithmetic in float16, fractions dropped."""
    if x.dtype.kind == "f":
        x = np.where(np.isfinite(x), np.rint(x), 0)
        return np.clip(x, -40, 40).astype(x.dtype)
    return x % 41 if x.dtype.kind in "iu" else x


def axis_of(x: Any, at: int) -> Any:
    """An axis of `x`, counted from either end; None; several."""
    choices: list[Any] = [None, *range(-x.ndim, x.ndim)]
    if x.ndim > 1:
        choices += [(0, x.ndim - 1), (-1, -2)]
    return choices[at % len(choices)]


@rule
def create(np: Any, pool: Pool, act: Action) -> Any:
    shape, dtype = SHAPES[act.a % len(SHAPES)], DTYPES[act.b % len(DTYPES)]
    return values(np, shape, dtype, act.c)


UNARY = ["negative", "absolute", "sign", "square", "logical_not", "invert", "positive", "isfinite"]
ROUND = ["floor", "ceil", "trunc", "rint"]


@rule
def unary(np: Any, pool: Pool, act: Action) -> Any:
    return small(np, getattr(np, UNARY[act.b % len(UNARY)])(pick(pool, act.a)))


@rule
def rounding(np: Any, pool: Pool, act: Action) -> Any:
    return getattr(np, ROUND[act.b % len(ROUND)])(pick(pool, act.a) / 4)


BINARY = [
    "add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "less",
    "equal", "greater_equal", "logical_and", "logical_xor", "bitwise_or", "bitwise_and",
    "bitwise_xor", "not_equal", "fmod", "left_shift", "right_shift",
]  # fmt: skip


def operand(np: Any, pool: Pool, at: int) -> Any:
    """An array or, one time in three, a scalar."""
    return number(np, at // 3) if at % 3 == 0 else pick(pool, at // 3)


@rule
def binary(np: Any, pool: Pool, act: Action) -> Any:
    function = getattr(np, BINARY[act.c % len(BINARY)])
    x, y = pick(pool, act.a), operand(np, pool, act.b)
    if "shift" in function.__name__:
        y = np.abs(y) % 7
    return small(np, function(y, x) if act.c % 5 == 0 and "shift" not in function.__name__ else
                 function(x, y))  # fmt: skip


OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: y - x,
    lambda x, y: x * y,
    lambda x, y: x // y,
    lambda x, y: x < y,
    lambda x, y: y >= x,
    lambda x, y: -x,
    lambda x, y: x % y,
    lambda x, y: x == y,
    lambda x, y: x & y,
]


@rule
def operator(np: Any, pool: Pool, act: Action) -> Any:
    function = OPERATORS[act.c % len(OPERATORS)]
    return small(np, function(pick(pool, act.a), operand(np, pool, act.b)))


REDUCE = ["sum", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "prod", "mean"]


@rule
def reduction(np: Any, pool: Pool, act: Action) -> Any:
    x, name = pick(pool, act.a), REDUCE[act.b % len(REDUCE)]
    if name == "prod":
        x = np.sign(x)
    options: dict[str, Any] = {"axis": axis_of(x, act.c)}
    if act.c % 4 == 0 and name != "cumsum":
        options["keepdims"] = True
    if act.c % 7 == 0 and name in ("sum", "cumsum"):
        options["dtype"] = DTYPES[act.b % 3]
    return small(np, getattr(np, name)(x, **options))


KEYS: list[Any] = [
    slice(1, None), slice(None, None, -1), slice(None, None, 2), slice(-2, None, -2), Ellipsis,
    None, 0, -1, (slice(None), slice(1, 3)), (Ellipsis, 0), (Ellipsis, None), (0, slice(None, -1)),
    (slice(None, None, -1), Ellipsis, slice(1, None)), slice(2, 1), (None, slice(None), None),
    (slice(-1, None), -1), (),
]  # fmt: skip


def key(at: int) -> Any:
    """A basic index."""
    return KEYS[at % len(KEYS)]


@rule
def view(np: Any, pool: Pool, act: Action) -> Any:
    return pick(pool, act.a)[key(act.b)]


METHODS: list[Callable[[Any, Any], Any]] = [
    lambda np, x: x.T,
    lambda np, x: x.reshape(-1),
    lambda np, x: x.ravel(),
    lambda np, x: x.swapaxes(0, -1),
    lambda np, x: np.expand_dims(x, 0),
    lambda np, x: x.squeeze(),
    lambda np, x: np.moveaxis(x, 0, -1),
    lambda np, x: x.reshape(x.shape[::-1]),
    lambda np, x: np.flip(x, -1),
    lambda np, x: x.diagonal(),
    lambda np, x: np.broadcast_to(x, (2, *x.shape)),
    lambda np, x: np.atleast_2d(x),
    lambda np, x: x.copy(),
    lambda np, x: x.transpose(),
    lambda np, x: x.flatten(),
    lambda np, x: x.view(),
]


@rule
def method(np: Any, pool: Pool, act: Action) -> Any:
    return METHODS[act.b % len(METHODS)](np, pick(pool, act.a))


@rule
def assign(np: Any, pool: Pool, act: Action) -> Any:
    pick(pool, act.a)[key(act.c)] = operand(np, pool, act.b)


def _add(x: Any, y: Any) -> None:
    x += y


def _subtract(x: Any, y: Any) -> None:
    x -= y


def _maximum(x: Any, y: Any) -> None:
    x[...] = y if y is True else -x


def _and(x: Any, y: Any) -> None:
    x &= y


INPLACE = [_add, _subtract, _maximum, _and]


@rule
def inplace(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    INPLACE[act.c % len(INPLACE)](x, operand(np, pool, act.b))
    if getattr(x, "shape", None) is not None and x.ndim and x.dtype.kind == "f":
        np.clip(x, -40, 40, out=x)


@rule
def inplace_part(np: Any, pool: Pool, act: Action) -> Any:
    part = pick(pool, act.a)[key(act.c)]
    part += operand(np, pool, act.b)
    if part.ndim and part.dtype.kind == "f":
        np.clip(part, -40, 40, out=part)


@rule
def out(np: Any, pool: Pool, act: Action) -> Any:
    function = getattr(np, BINARY[act.c % 5])
    x, target = pick(pool, act.a), pick(pool, act.b)
    options = {"where": pick(pool, act.c) > 0} if act.c % 3 == 0 else {}
    function(x, number(np, act.c), out=target, **options)
    if target.dtype.kind == "f":
        np.clip(target, -40, 40, out=target)


def positions(np: Any, x: Any, act: Action) -> Any:
    """Integers that index the first axis of `x`, some of them twice, some negative."""
    n = len(x)
    found = (np.arange(act.b % 5) * (act.c + 1)) % max(n, 1)
    return found - n * (act.c % 2) if act.c % 4 else list(np.asarray(found).tolist())


@rule
def gather(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    return x[positions(np, x, act)] if len(x) else None


@rule
def scatter(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    if len(x):
        x[positions(np, x, act)] = operand(np, pool, act.b)


@rule
def accumulate(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    if len(x) and x.flags.writeable:  # NumPy's `at` does not look whether it may write
        np.add.at(x, positions(np, x, act), 1)


@rule
def masked(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    return x[x > act.b % 4] if act.c % 2 else np.extract(x > 0, x)


@rule
def masked_write(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    mask = x > act.b % 4
    if act.c % 3 == 0:
        x[mask] += 1
    elif act.c % 3 == 1:
        x[mask] = number(np, act.c)
    else:
        x[mask] = x[mask][::-1]


@rule
def where(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    return np.where(x > 0, operand(np, pool, act.b), operand(np, pool, act.c))


JOIN: list[Callable[[Any, Any, Any], Any]] = [
    lambda np, x, y: np.concatenate([x, y]),
    lambda np, x, y: np.stack([x, y], axis=-1),
    lambda np, x, y: np.hstack([x, y]),
    lambda np, x, y: np.vstack([x, x]),
    lambda np, x, y: np.tile(x, 2),
    lambda np, x, y: np.roll(x, 2, axis=0),
    lambda np, x, y: np.repeat(x, 2, axis=-1),
    lambda np, x, y: np.pad(x, 1),
    lambda np, x, y: np.outer(x, y)[:4, :4],
    lambda np, x, y: np.diff(x),
    lambda np, x, y: np.dot(x, y),
    lambda np, x, y: x @ y.T,
    lambda np, x, y: np.sort(x),
    lambda np, x, y: np.argsort(x, kind="stable"),
    lambda np, x, y: np.take(x, [0, -1], axis=0),
    lambda np, x, y: np.triu(x),
    lambda np, x, y: np.count_nonzero(x, axis=0),
    lambda np, x, y: np.searchsorted(np.sort(x), y),
    lambda np, x, y: np.clip(x, 0, 3),
]


@rule
def joining(np: Any, pool: Pool, act: Action) -> Any:
    x, y = pick(pool, act.a), pick(pool, act.b)
    if x.size * y.size > 600:
        return None
    return small(np, JOIN[act.c % len(JOIN)](np, x, y))


@rule
def cast(np: Any, pool: Pool, act: Action) -> Any:
    x = pick(pool, act.a)
    dtype = DTYPES[act.b % len(DTYPES)]
    return np.abs(x).astype(dtype) if dtype.startswith("u") else x.astype(dtype)


@rule
def swap(np: Any, pool: Pool, act: Action) -> Any:
    pool[0], pool[-1] = pool[-1], pool[0]


@rule
def drop(np: Any, pool: Pool, act: Action) -> Any:
    if len(pool) > 2:
        del pool[act.a % len(pool)]
