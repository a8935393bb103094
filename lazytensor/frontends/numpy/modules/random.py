"""`numpy.random`: NumPy draws on the host, so every stream equals NumPy's to the bit.

Samples become leaves. Lazy arguments are computed first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.recording import thread
from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.functions.entry import Function, dressed, has_lazy
from lazytensor.frontends.numpy.functions.writing import check_writeable
from lazytensor.frontends.numpy.host.fallback import called, real
from lazytensor.frontends.numpy.host.small import NUMBERS, entered
from lazytensor.frontends.numpy.indexing.assignment import assign
from lazytensor.frontends.numpy.modules import rest_of

STATE = {"bytes", "get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state"}
"""Functions on the generator itself, which stay NumPy's own, their arrays included."""
IN_PLACE = {"shuffle"}
"""Functions that write to their first argument."""


def drawn(name: str, function: Function) -> Function:
    """A function or method that draws, with lazy results."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if thread.recorder.tracing:
            raise Unsupported(f"{name}: random numbers differ from call to call: pass them in")
        if not args and not kwargs:
            return function()
        if not kwargs and NUMBERS.issuperset(map(type, args)):  # loops that draw numbers
            made = function(*args)
            return entered(made) if type(made) is np.ndarray else made
        if name in IN_PLACE and args and any(isinstance(x, Lazy) for x in args):
            return _in_place(function, args, kwargs)
        out = kwargs.get("out")
        if isinstance(out, Lazy):
            return _into(function, out, args, kwargs)
        if has_lazy(*args, *kwargs.values()):
            args = tuple(map(real, args))
            kwargs = {key: real(value) for key, value in kwargs.items()}
        return entered(called(function, args, kwargs), args, kwargs)

    return dressed(call, function, laziness.DRAWS)


def _in_place(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Rearrange the values of the lazy argument and write them back."""
    place = next(i for i, x in enumerate(args) if isinstance(x, Lazy))
    array = args[place]
    check_writeable(array)
    buffer = np.array(real(array))
    function(*args[:place], buffer, *map(real, args[place + 1 :]), **kwargs)
    assign(array.ref, buffer)


def _into(function: Function, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draw into a lazy `out`."""
    check_writeable(out)
    buffer = np.empty(out.shape, out.dtype)
    given = {key: real(value) for key, value in kwargs.items() if key != "out"}
    function(*map(real, args), **given, out=buffer)
    assign(out.ref, buffer)
    return out


def _method(kind: type, name: str) -> Function:
    """NumPy's method on the plain generator, as NumPy must find no lazy array inside."""
    real_method = getattr(kind, name)
    draw = real_method if name in STATE else drawn(name, real_method)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return draw(self._plain, *args, **kwargs)

    return dressed(call, real_method, laziness.DRAWS)


def _methods(kind: type) -> dict[str, Function]:
    """NumPy's methods, with lazy samples."""
    return {
        name: _method(kind, name)
        for name in dir(kind)
        if not name.startswith("_") and name != "spawn" and callable(getattr(kind, name))
    }


class Generator(np.random.Generator):
    """NumPy's Generator, with lazy samples."""

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        self._plain = np.random.Generator(bit_generator)

    def __reduce__(self) -> Any:
        return Generator, (self.bit_generator,)


class RandomState(np.random.RandomState):
    """NumPy's RandomState, with lazy samples."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(0)
        self._plain = np.random.RandomState(real(seed))

    def __reduce__(self) -> Any:
        return _restored, (self.get_state(legacy=False),)


def _restored(state: Any) -> RandomState:
    made = RandomState()
    made.set_state(state)
    return made


for _kind, _plain in ((Generator, np.random.Generator), (RandomState, np.random.RandomState)):
    for _name, _drawing in _methods(_plain).items():
        setattr(_kind, _name, _drawing)


def default_rng(seed: Any = None) -> Generator:
    """Drawn at once by NumPy; the samples are lazy.

    See numpy.random.default_rng.
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(np.random.default_rng(real(seed)).bit_generator)


def seed(seed: Any = None) -> None:
    """Drawn at once by NumPy; the samples are lazy.

    See numpy.random.seed.
    """
    np.random.seed(real(seed))


LAZY: dict[str, Function] = {
    name: drawn(name, getattr(np.random, name))
    for name in np.random.__all__
    if callable(getattr(np.random, name))
    and not isinstance(getattr(np.random, name), type)
    and name not in STATE | {"default_rng"}
}

for _function in LAZY.values():
    _function.__module__ = "lazytensor.numpy.random"  # where pickle finds it

globals().update(LAZY)


__getattr__, __dir__ = rest_of(np.random, globals())
