"""Random lines of NumPy code: templates with holes, filled by looking at the arrays there are.

A hole's name says what goes in: `{x}` an array, `{key}` a basic index of it, and so on; a digit
after the name makes it another one of the same kind. Two holes of one name are filled alike. Most
choices fit (an operand can be broadcast, an axis exists); some do not, so that errors are compared.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np

from tests.fuzz.templates import BINARY, INTO_OUT, REDUCTIONS, TEMPLATES, UNARY

Hole = Callable[["Draft"], str]

DTYPES = ["float64", "int64", "float32", "bool", "int8", "uint8", "int32", "uint32", "float16"]
DTYPES += ["complex128", "int16", "uint64", "complex64", "uint16"]
SHAPES = [(4,), (3, 4), (2, 3, 4), (), (1, 4), (3, 1), (0, 3), (5,), (4, 3), (1,), (2, 1, 3)]
NUMBERS = ["2", "-1", "3.0", "True", "0", "1.5", "-4.0", "300", "2j", "False", "7"]
TYPED = ["np.int8(3)", "np.float32(2)", "np.int64(-2)", "np.bool_(False)", "np.float64(-3)"]
TYPED += ["np.uint8(250)", "np.complex64(1j)", "np.float16(4)", "np.array(5)", "np.array([1])"]


class Draft:
    """A line in the making."""

    def __init__(self, rng: random.Random, pool: dict[str, np.ndarray]) -> None:
        self.rng = rng
        self.pool = pool
        self.filled: dict[str, str] = {}

    def array(self) -> np.ndarray:
        """What the holes filled next are to fit."""
        return np.asarray(self.pool[self.filled["x"]])

    def chance(self, part: float) -> bool:
        """Whether something rare happens."""
        return self.rng.random() < part


def line(rng: random.Random, pool: dict[str, np.ndarray]) -> str:
    """A random line over the arrays of `pool`."""
    draft = Draft(rng, pool)
    group = rng.choice(list(TEMPLATES)) if pool else "new"
    template = rng.choice(TEMPLATES[group])
    return re.sub(r"\{(\w+)\}", lambda match: fill(draft, match[1]), template)


def fill(draft: Draft, hole: str) -> str:
    """The text for a hole; an array to fit first, if there is none."""
    if hole not in draft.filled:
        name = hole.rstrip("0123456789")
        if name not in _FREE and "x" not in draft.filled:
            fill(draft, "x")
        draft.filled[hole] = HOLES[name](draft)
    return draft.filled[hole]


def _new(draft: Draft) -> str:
    number = max((int(name[1:]) for name in draft.pool), default=-1) + 1
    return f"a{number}"


def _array(draft: Draft) -> str:
    names = list(draft.pool)
    return names[-1 - min(int(draft.rng.expovariate(0.4)), len(names) - 1)]


def _fitting(draft: Draft) -> str:
    """An array that the first can be combined with."""
    shape = draft.array().shape
    if draft.chance(0.2):
        return _array(draft)
    return draft.rng.choice([n for n, a in draft.pool.items() if _broadcasts(a.shape, shape)])


def _broadcasts(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(x, y)
    except ValueError:
        return False
    return True


def _number(draft: Draft) -> str:
    return draft.rng.choice(NUMBERS if draft.chance(0.6) else TYPED)


def _filling(draft: Draft) -> str:
    """A number; for NumPy's own scalar not in an array, as lazy ones are none to it."""
    is_scalar = isinstance(draft.pool[draft.filled["x"]], np.generic)
    return draft.rng.choice(NUMBERS) if is_scalar else _number(draft)


def _operand(draft: Draft) -> str:
    if draft.chance(0.3):
        return _number(draft)
    name = _fitting(draft)
    return name if draft.chance(0.7) else f"{name}[{_basic(draft.rng, draft.pool[name].shape)}]"


def _basic(rng: random.Random, shape: tuple[int, ...]) -> str:
    """A basic index of an array of this shape."""
    items = [_item(rng, n) for n in shape[: rng.randint(0, len(shape))]]
    while rng.random() < 0.15:
        items.insert(rng.randint(0, len(items)), "None")
    if rng.random() < 0.2:
        items.insert(rng.randint(0, len(items)), "...")
    if len(items) == 1 and items[0] != "..." and rng.random() < 0.5:
        return items[0]
    return ", ".join(items) + "," if items else rng.choice(["...", "()"])


def _item(rng: random.Random, n: int) -> str:
    if rng.random() < 0.3:
        return str(rng.randint(-n, n - 1) if n and rng.random() < 0.95 else n)
    start, stop = (rng.choice(["", "", rng.randint(-n - 1, n + 1)]) for _ in range(2))
    step = rng.choice(["", "", "", 1, 2, -1, -1, -2])
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _key(draft: Draft) -> str:
    return _basic(draft.rng, draft.array().shape)


def _integers(rng: random.Random, n: int) -> str:
    count = rng.randint(0, 4) if n else 0
    low = -n if rng.random() < 0.5 else 0
    values = [rng.randint(low, n - 1) for _ in range(count)]
    if n and rng.random() < 0.04:
        values.append(n)
    return f"np.array({values}, dtype=int)" if not values or rng.random() < 0.6 else str(values)


def _spot(draft: Draft) -> str:
    """An index that is no view, of something: what fits nothing differs from call to call."""
    if not draft.array().size:
        return "..."
    found = _index(draft)
    while "[]" in found:
        found = _index(draft)
    return found


def _index(draft: Draft) -> str:
    """An advanced index: integers on some axes, slices on others."""
    shape, rng = draft.array().shape, draft.rng
    if not shape:
        return rng.choice(["()", "True", "None, ..."])
    at = rng.randrange(len(shape))
    items = [_item(rng, n) for n in shape[:at]] + [_integers(rng, shape[at])]
    if rng.random() < 0.3 and at + 1 < len(shape):
        items.append(str(rng.randint(-1, 0)) if rng.random() < 0.5 else _item(rng, shape[at + 1]))
    return items[0] if len(items) == 1 else ", ".join(items)


def _mask(draft: Draft) -> str:
    x = draft.filled["x"]
    if draft.chance(0.2) and draft.array().ndim > 1:
        return f"({x} > {draft.rng.randint(-2, 3)})[{draft.rng.choice(['0', ':, 0', '..., 0'])}]"
    flags = [n for n, a in draft.pool.items() if a.dtype == bool and a.shape == draft.array().shape]
    if flags and draft.chance(0.4):
        return draft.rng.choice(flags)
    return f"{x} {draft.rng.choice(['>', '==', '<='])} {draft.rng.randint(-3, 3)}"


def _shape(draft: Draft) -> str:
    """A shape of the same size, mostly."""
    rng, size = draft.rng, draft.array().size
    if draft.chance(0.1):
        return str(rng.choice(SHAPES))
    sizes = []
    while size > 1 and rng.random() < 0.7:
        n = rng.choice([n for n in range(1, size + 1) if size % n == 0])
        sizes.append(n)
        size //= n
    sizes.append(-1 if size and rng.random() < 0.4 else size)
    return str(tuple(sizes))


def _wider(draft: Draft) -> str:
    """A shape to broadcast to."""
    shape = [n if n != 1 or draft.chance(0.5) else 3 for n in draft.array().shape]
    return str((*([2] if draft.chance(0.5) else []), *shape))


def _axis(draft: Draft) -> str:
    ndim = draft.array().ndim
    return str(draft.rng.randint(-ndim, ndim - 1)) if ndim and not draft.chance(0.03) else "0"


def _axes(draft: Draft) -> str:
    """What to reduce over."""
    if draft.chance(0.3):
        return "None"
    ndim = draft.array().ndim
    if draft.chance(0.3):
        return str(tuple(draft.rng.sample(range(ndim), draft.rng.randint(0, ndim))))
    return _axis(draft)


def _order(draft: Draft) -> str:
    ndim = draft.array().ndim
    axes = draft.rng.sample(range(ndim), ndim)
    return str(tuple(n - ndim if draft.chance(0.2) else n for n in axes))


def _create(draft: Draft) -> str:
    shape, dtype = draft.rng.choice(SHAPES), draft.rng.choice(DTYPES)
    a, b = draft.rng.randint(1, 9), draft.rng.randint(0, 10)
    size = int(np.prod(shape))
    numbers = f"(np.arange({size}) * {a} + {b}) % 11"
    if not dtype.startswith("u"):
        numbers = f"({numbers} - 5)"
    order = ", order='F'" if draft.chance(0.15) else ""
    made = f"({numbers}).reshape({shape})"
    return f"np.array({made}, dtype='{dtype}'{order})"


HOLES: dict[str, Hole] = {
    "new": _new,
    "x": _array,
    "y": _fitting,
    "any": _array,
    "number": _number,
    "filling": _filling,
    "v": _operand,
    "key": _key,
    "index": _index,
    "spot": _spot,
    "integers": lambda d: _integers(d.rng, d.array().shape[0] if d.array().ndim else 1),
    "mask": _mask,
    "shape": _shape,
    "wider": _wider,
    "axis": _axis,
    "axes": _axes,
    "order": _order,
    "layout": lambda d: d.rng.choice("CFAK"),
    "dtype": lambda d: repr(d.rng.choice(DTYPES)),
    "create": _create,
    "f": lambda d: d.rng.choice(UNARY),
    "g": lambda d: d.rng.choice(BINARY),
    "r": lambda d: d.rng.choice(REDUCTIONS),
    "s": lambda d: d.rng.choice(INTO_OUT),
    "op": lambda d: d.rng.choice(["+", "-", "*", "//", "%", "<", ">=", "==", "!=", "&", "|", "^"]),
    "iop": lambda d: d.rng.choice(["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^="]),
    "k": lambda d: str(d.rng.randint(-2, 3)),
    "n": lambda d: str(d.rng.randint(0, 3)),
}
"""Per name: what goes in."""

_FREE = {"new", "x", "any", "create", "number", "dtype", "f", "g", "r", "s", "op", "iop", "k", "n"}
_FREE |= {"layout"}
"""Holes that need not fit an array."""
