"""The lazy ufunc: NumPy's, with its methods, recording where it can.

Data flow of a call: arguments → operands (nodes and Python numbers) → NumPy's loop for their
dtypes → nodes → `out=`, `where=` → arrays. `plans` remembers plain calls by the types of their
operands, for the fast paths here and in `operators.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.lib import NumpyVersion

from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.memo import memory
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import numerics
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.arrays.array import Lazy, ndarray
from lazytensor.frontends.numpy.arrays.conversion import mask_of, operand
from lazytensor.frontends.numpy.arrays.layout import lay_out, lay_out_as, of_stacks
from lazytensor.frontends.numpy.host import parts
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.fallback import fallback, on_host
from lazytensor.frontends.numpy.host.small import (
    at_once,
    lazy_if_large,
)
from lazytensor.frontends.numpy.indexing import masked
from lazytensor.frontends.numpy.interop import foreign
from lazytensor.frontends.numpy.ufuncs import checks, loops
from lazytensor.frontends.numpy.ufuncs.calls import (
    alone,
    backward,
    forward,
    of_one,
    of_two,
    written,
)
from lazytensor.frontends.numpy.ufuncs.delivery import check_writeable, deliver
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, as_numpy
from lazytensor.frontends.numpy.ufuncs.plans import Plans, memo, remember
from lazytensor.frontends.numpy.ufuncs.promotion import WEAK, warn_user
from lazytensor.frontends.numpy.ufuncs.recipes import recorded
from lazytensor.frontends.numpy.ufuncs.ufunc_methods import UfuncMethods, recorded_outer

COMPARISON_NAMES: Final = frozenset(
    ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)

Function = Callable[..., Any]
WARNS_OF_WHERE: Final = NumpyVersion(np.__version__) >= "2.4.0"


class UfuncType(type):
    """NumPy's own ufuncs, and SciPy's, are instances of the lazy class too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (
            cls is ufunc and isinstance(instance, np.ufunc)
        )

    def __getattr__(cls, name: str) -> Any:
        """NumPy's attributes that this class lacks, such as `resolve_dtypes`."""
        return getattr(np.ufunc, name)


class ufunc(UfuncMethods, metaclass=UfuncType):
    """A function of array elements, like NumPy's `ufunc`."""

    def __init__(self, real: np.ufunc, row: loops.Row, host: Function | None = None) -> None:
        self.real = real
        self.host = host or real  # computes small arrays at once
        self.row = row
        self.plans: Plans = memo()
        self.loops: dict[Any, loops.Loop] = memory()
        self.nin, self.nout = real.nin, real.nout
        self.__name__ = self.__qualname__ = real.__name__
        line = laziness.RECORDS if row else laziness.FALLS
        self.__doc__ = laziness.said(line, real.__name__, real.__doc__)
        self.__module__ = "lazytensor.numpy"  # where pickle finds it
        self.alone = alone(self.plans, lambda x: call(self, (x,), {}))
        self.lay = lay_out if real.signature is None else of_stacks(real.signature)
        self._forward = forward(self.plans, lambda x, other: call(self, (x, other), {}), self.lay)
        self._backward = backward(self.plans, lambda x, other: call(self, (other, x), {}), self.lay)
        outer = partial(recorded_outer, self)
        self._outer = outer if real.signature else recorded(outer, real.outer, growing=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.general(args, kwargs)

    def general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Any call."""
        out = kwargs.get("out")
        if type(out) is ndarray and len(kwargs) == 1 and written(self.plans, args, out):
            return out
        if at_once(args, kwargs):
            return lazy_if_large(self.real(*args, **kwargs))
        return call(self, args, kwargs)

    def loop(self, kinds: tuple[loops.Kind, ...], **how: Any) -> loops.Loop:
        """The loop for operands of these kinds. Raises: TypeError."""
        key = (kinds, *how.items())
        found = self.loops.get(key)
        if found is None:
            found = self.loops[key] = loops.resolve(self.real, self.row, kinds, **how)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __eq__(self, other: object) -> bool:
        """Whether `other` is this ufunc or NumPy's own, so that code finds either in a list."""
        return other is self or other is self.real

    def __hash__(self) -> int:
        return hash(self.real)

    def __repr__(self) -> str:
        return repr(self.real)

    def __reduce__(self) -> str:
        return self.__name__


class Short(ufunc):
    """A ufunc whose calls run a closure, in which all names are local.

    Attributes of a class with `__getattr__` are slow: one takes about as long as the addition of a
    small array.
    """

    __slots__ = ("__call__",)

    __call__: Function

    def of_two(self, host: Function, at_once: Function | None = None) -> Function:
        """Calls with two operands; `host` computes small arrays, `at_once` what it likes to."""
        usual = partial(call, self), self.general
        return of_two(self.real, host, self._forward, self._backward, *usual, at_once)


class unary(Short):
    """A ufunc of one operand."""

    def __init__(self, real: np.ufunc, row: loops.Row) -> None:
        super().__init__(real, row)
        self.__call__ = of_one(self.plans, real, self.alone, self.general)


class binary(Short):
    """A ufunc of two operands."""

    def __init__(self, real: np.ufunc, row: loops.Row) -> None:
        super().__init__(real, row)
        self.__call__ = self.of_two(real)


class product(Short):
    """`matmul`. NumPy computes products of data on the host at once where that pays."""

    def __init__(self, real: np.ufunc, row: loops.Row) -> None:
        super().__init__(real, row)

        def at_once(x: Any, other: Any) -> Any:
            if type(x) is type(other) is np.ndarray and x.size < settings.small > other.size:
                return lazy_if_large(real(x, other))
            return parts.product(real, x, other)

        self.__call__ = self.of_two(real, at_once)


def declared(real: np.ufunc, row: loops.Row) -> ufunc:
    """The lazy ufunc in the place of a real one."""
    if real is np.matmul:
        return product(real, row)
    made = {(1, 1): unary, (2, 1): binary}.get((real.nin, real.nout), ufunc)
    return made(real, row)


def _is_filled(self: ufunc, inputs: Any, outs: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether NumPy has written to `out=` at once, as it and the operands are small by now."""
    if len(outs) != 1 or (kwargs and len(args) > self.nin):
        return False
    return parts.filled(self.real, inputs, {**kwargs, "out": outs})


def call(self: ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any call of a ufunc."""
    early = differing and is_raised() and not kwargs and len(args) == self.nin
    if early and (small := parts.small_by_now(args)) is not None:
        return lazy_if_large(self.host(*small))
    if len(args) < self.nin or len(args) > self.nin + self.nout:
        return self.real(*args, **kwargs)  # raises
    if kwargs.get("out") is ...:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return foreign.kept_as_arrays(call(self, args, rest))
    inputs = args[: self.nin]
    usual = not kwargs and len(args) == self.nin
    outs = () if usual else _outs(self, args, kwargs)
    given = inputs if usual else (*inputs, *outs, kwargs.get("where"))
    if differing and is_raised() and _is_filled(self, inputs, outs, args, kwargs):
        return outs[0]
    if any(o is ... or foreign.overrides(o) or foreign.wraps(o) for o in given):
        context = self, args
        return foreign.overridden(self, self.real, self.__name__, given, args, kwargs, context)
    if not any(map(is_array, given)):
        return self.real(*args, **kwargs)
    if usual and checks.current() is checks.OFF and masked.any_masked(inputs):
        made = masked.apply(self, inputs)
        if made is not None:
            return made
    if (kwargs or not early) and len(args) == self.nin:
        small = parts.small_by_now(inputs, kwargs)
        if small is not None:
            return lazy_if_large((self.real if kwargs else self.host)(*small, **kwargs))
    try:
        how = PLAIN_CALL if usual else _how(self, outs, args, kwargs)
        return _record(self, inputs, how, args, kwargs)
    except HostOnly:
        return on_host(self.__name__, self.real, args, kwargs)
    except (ShapeError, DTypeError) as error:
        as_numpy(error, self.real, *args, **kwargs)


def is_array(x: Any) -> bool:
    """Whether `x` makes a call lazy: it is lazy, an array, or something nested."""
    if issubclass(type(x), Lazy):
        return True
    return x is not None and not isinstance(x, np.generic | bool | int | float | complex | str)


class How(NamedTuple):
    """A call's arguments besides its inputs.

    `outs`: the target of each result, None for a new array. `options`: keywords by which NumPy
    chooses a loop.
    """

    outs: tuple[Any, ...] = (None,)
    where: Any = True
    order: Any = "K"
    options: tuple[tuple[str, Any], ...] = ()


PLAIN_CALL: Final = How()


def _outs(self: ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    given = args[self.nin :] or kwargs.get("out")
    outs = given if isinstance(given, tuple) else (given,)
    return (*outs, *[None] * (self.nout - len(outs)))


def _how(self: ufunc, outs: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> How:
    if len(args) > self.nin and "out" in kwargs:
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    for out in outs:
        check_writeable(out)
    where = _mask(kwargs.get("where", True), "out" in kwargs or len(args) > self.nin)
    options = [(name, x) for name, x in kwargs.items() if name not in _ELSEWHERE]
    return How(outs, where, kwargs.get("order", "K"), tuple(options))


_ELSEWHERE: Final = frozenset(["out", "where", "order", "subok"])
"""Keywords that do not affect the choice of a loop."""


_OF_AXES: Final = frozenset(["axes", "axis", "keepdims"])
"""Keywords that only a ufunc with a signature takes."""


def _record(
    self: ufunc, inputs: tuple[Any, ...], how: How, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    outs, where = how.outs if how is not PLAIN_CALL else (None,) * self.nout, how.where
    operands = tuple(x if type(x) in WEAK else operand(x) for x in inputs)
    kinds = tuple(x.type.dtype if isinstance(x, Node) else type(x) for x in operands)
    loop = (
        self.loop(kinds) if how is PLAIN_CALL else _find_loop(self, kinds, outs, dict(how.options))
    )
    if loop is None or loop.body is None:
        return fallback(self.__name__, self.real, args, kwargs)
    plain = not how.options and where is True
    try:
        made = loop(*operands)
    except OverflowError:
        if self.__name__ not in COMPARISON_NAMES:
            raise
        made, plain = _compare_beyond(self, inputs, operands), False
    if checks.current() is not checks.OFF:
        _check(self, loop, operands, made, where)
    if plain and self.nout == 1:
        remember(self.plans, inputs, operands, loop, made)
    results = made if self.nout > 1 else (made,)
    if self.real.signature is not None:
        _check_outs(self.real.signature, results, outs)
    casting = dict(how.options).get("casting", "same_kind")
    delivered = tuple(map(deliver, results, outs, repeat(where), repeat(casting)))
    for result, out in zip(delivered, outs, strict=True):
        if out is None:
            masks = [] if where is True else [where]
            lay_out_as(result, how.order, *inputs, *masks, lay=self.lay)
    return delivered if self.nout > 1 else delivered[0]


def _check(self: ufunc, loop: loops.Loop, operands: Any, made: Any, where: Any) -> None:
    """Check the floating-point flags, of the first result if there are several."""
    nodes = [loops.fitted(x, dtype) for x, dtype in zip(operands, loop.dtypes, strict=True)]
    mask = True if where is True else mask_of(where)
    axes = () if self.real.signature is None else None
    checks.check(self.__name__, nodes, made[0] if self.nout > 1 else made, mask, axes)


def _mask(where: Any, has_out: bool) -> Any:
    """`where=` as a mask. Without `out=`, NumPy warns that other elements are undefined."""
    if where is True:
        return True
    if not has_out and WARNS_OF_WHERE:
        text = "'where' used without 'out', expect unitialized memory in output. "
        warn_user(text + "If this is intentional, use out=None.", UserWarning)
    return where


def _check_outs(signature: str, results: tuple[Node, ...], outs: tuple[Any, ...]) -> None:
    """Raise unless results fit `outs`: stacks of matrices are broadcast, the matrices are not."""
    for node, out in zip(results, outs, strict=True):
        if out is None or out.shape == node.type.shape:
            continue
        given = signature.split("->")[1].strip("()")
        core = min(node.type.ndim, len(given.split(","))) if given else 0
        if out.shape[len(out.shape) - core :] != node.type.shape[node.type.ndim - core :]:
            raise ShapeError(f"{signature}: out has shape {out.shape}, the result {node.type}")


def _find_loop(
    self: ufunc, kinds: tuple[loops.Kind, ...], outs: tuple[Any, ...], options: dict[str, Any]
) -> loops.Loop | None:
    """The loop for these keywords, which may write to `outs`; None for keywords not lazy yet."""
    how: dict[str, Any] = {}
    if others := options.keys() - {"dtype", "casting", "signature", "sig"}:
        if wrong := others if self.real.signature is None else others - _OF_AXES:
            text = f"{self.__name__}() got an unexpected keyword argument {min(wrong)!r}"
            raise TypeError(text)
        return None
    if options.get("casting") is not None:
        how["casting"] = options["casting"]
    signature = options.get("signature", options.get("sig"))
    if options.get("dtype") is not None:
        signature = (*[None] * self.nin, *[np.dtype(options["dtype"])] * self.nout)
    if signature is not None:
        how["signature"] = signature
    if how or any(out is not None for out in outs):
        loops.check(self.real, kinds, outs, **how)
    return self.loop(kinds, **how)


def _compare_beyond(self: ufunc, inputs: tuple[Any, ...], operands: tuple[Any, ...]) -> Node:
    """A comparison with a Python integer beyond the dtype's range, whose answer is constant."""
    at = 0 if isinstance(operands[0], Node) else 1
    probe = np.zeros((), operands[at].type.dtype)
    answer = bool(self.real(*(probe if i == at else x for i, x in enumerate(inputs))))
    return numerics.constant(answer)(operands[at])
