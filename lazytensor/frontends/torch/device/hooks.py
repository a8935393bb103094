"""Exceptions of hooks that run in a backward pass.

Torch unwinds its engine while Python's exception is still set, and asks the device for its type
meanwhile. That call into Python fails because of the pending exception, and the process aborts. So
a hook's exception is kept here, cleared when torch asks, and raised when the engine is done.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, Final

import torch
from torch.autograd import graph

from lazytensor.frontends.torch.tensors.tensor import is_lazy

failing: Final[dict[int, BaseException]] = {}
"""By thread: the hook's exception that its backward pass is about to raise. It is read while an
exception is set, so only by operations that tolerate one."""


_OTHER: Final = KeyError()


def clear_exception() -> None:
    """Clear the pending exception by raising and catching another one, made beforehand."""
    try:
        raise _OTHER
    except KeyError:
        _OTHER.__traceback__ = None


def _kept(hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook; an exception of it is kept in `failing`."""

    @wraps(hook)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return hook(*args, **kwargs)
        except BaseException as error:
            failing[get_ident()] = error
            raise

    return call


def _registering(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method; the hooks that it registers for tensors of the device keep their exceptions."""

    @wraps(method)
    def register(self: Any, hook: Any, *args: Any, **kwargs: Any) -> Any:
        ours = not isinstance(self, torch.Tensor) or is_lazy(self)
        return method(self, _kept(hook) if ours and callable(hook) else hook, *args, **kwargs)

    return register


def _raising(run: Callable[..., Any]) -> Callable[..., Any]:
    """Torch's engine, which raises the exception that a hook has raised."""

    @wraps(run)
    def engine(*args: Any, **kwargs: Any) -> Any:
        try:
            return run(*args, **kwargs)
        except SystemError:
            error = failing.get(get_ident())
            if error is None:
                raise
            raise error from None
        finally:
            failing.pop(get_ident(), None)

    return engine


METHODS: Final = {
    torch.Tensor: ("register_hook", "register_post_accumulate_grad_hook"),
    torch.nn.Module: ("register_full_backward_hook", "register_full_backward_pre_hook"),
}


def attach() -> None:
    """Keep the exceptions of hooks that are registered from now on."""
    for owner, names in METHODS.items():
        for name in names:
            setattr(owner, name, _registering(getattr(owner, name)))
    torch.autograd._engine_run_backward = graph._engine_run_backward = _raising(
        graph._engine_run_backward
    )
