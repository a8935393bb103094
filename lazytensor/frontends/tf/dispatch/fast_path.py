"""The entry of TF's eager operations that its generated Python calls."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.frontends.tf.dispatch import fallback, opdef, table
from lazytensor.frontends.tf.dispatch.recording import Row
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import LazyTensor, eager

_HANDLERS: Final = table.HANDLERS


def fast(ctx: Any, op: str, name: Any, *args: Any) -> Any:
    """What `TFE_Py_FastPathExecute` is replaced by."""
    if not state.on:
        return _passive(ctx, op, name, args)
    return _answered(_HANDLERS.get(op) or table.find(op), ctx, name, args)


def _answered(handler: Any, ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
    if type(handler) is Row:
        row = handler
        return row.answer(ctx, name, args)
    return handler(ctx, name, args)


def _passive(ctx: Any, op: str, name: Any, args: tuple[Any, ...]) -> Any:
    """A thread that does not record: TF's kernel, on values."""
    if any(_has_lazy(x) for x in args):
        definition = opdef.find(op)
        assert definition is not None
        args = (*map(_values, args[: definition.arity]), *args[definition.arity :])
    return fallback.untouched(ctx, op, name, args)


def _has_lazy(x: Any) -> bool:
    if type(x) is LazyTensor:
        return True
    return isinstance(x, list | tuple) and any(type(item) is LazyTensor for item in x)


def _values(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [eager(item) for item in x]
    return eager(x)
