"""The table: per raw op what answers a call of it in a thread that records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.recording import Row
from lazytensor.frontends.tf.tensors.tensor import LazyTensor

Handler = Callable[[Any, Any, tuple[Any, ...]], Any]
"""Called with TF's context, the operation's name and what follows in the call."""
HANDLERS: Final[dict[str, Handler]] = {}
MISSING: Final[set[str]] = set()
"""Raw ops that this TensorFlow has not."""


def rows(table: dict[str, Function], host: tuple[int, ...] = (), **options: Any) -> None:
    """Register rows whose inputs `host` are values of the host's."""
    for name, function in table.items():
        if opdef.find(name) is None:
            MISSING.add(name)
        else:
            handle(name, Row(name, function, host, **options))


def handle(name: str, handler: Handler) -> None:
    """Register what answers a raw op."""
    if name in HANDLERS:
        raise ValueError(f"the raw op {name!r} is registered already")
    HANDLERS[name] = handler


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a function for raw ops."""

    def register(function: Handler) -> Handler:
        for name in names:
            handle(name, function)
        return function

    return register


def answer(name: str, handler: Handler) -> None:
    """Register what answers a raw op if an input is lazy; where it gives None, TF's kernel does."""
    definition = opdef.find(name)
    if definition is None:
        MISSING.add(name)
        return

    def answered(ctx: Any, name_: Any, args: tuple[Any, ...]) -> Any:
        given = args[: definition.arity]
        flat = [item for x in given for item in (x if isinstance(x, list | tuple) else [x])]
        if not any(type(x) is LazyTensor for x in flat):
            return fallback.untouched(ctx, name, name_, args)
        made = handler(ctx, name_, args)
        return fallback.native(definition, ctx, name_, args) if made is None else made

    handle(name, answered)


def call(name: str, *args: Any) -> Any:
    """What a raw op gives, recorded with all that its gradient asks for."""
    return HANDLERS[name](fallback.current(), None, args)


def find(name: str) -> Handler | None:
    """What answers a raw op; TF's kernel if it has no row; None for a function's name."""
    found = HANDLERS.get(name)
    if found is None:
        definition = opdef.find(name)
        if definition is None:
            return None

        def found(ctx: Any, name: Any, args: tuple[Any, ...], d: Any = definition) -> Any:
            return fallback.native(d, ctx, name, args)

        HANDLERS[name] = found
        NATIVE.add(name)
    return found


NATIVE: Final[set[str]] = set()
"""Raw ops met that have no row."""
