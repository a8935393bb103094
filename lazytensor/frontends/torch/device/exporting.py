"""torch's tensors and modules as arguments and bodies of functions that are recorded."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.func import functional_call

from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.trace.frameworks import Framework, Model
from lazytensor.frontends.torch.tensors.tensor import from_cpu, is_lazy, value, wrap


class _Holder(torch.nn.Module):
    """A function with the modules that it uses as children, so that torch can replace weights."""

    def __init__(self, function: Any, modules: Mapping[str, torch.nn.Module]) -> None:
        super().__init__()
        self.forward = function
        for name, module in modules.items():
            self.add_module(name, module)


def _model(function: Any) -> Model | None:
    """A module, or a function that uses some: its own variables, its object, or globals."""
    if isinstance(function, torch.nn.Module):
        holder, signature = function, function.forward
    else:
        modules = _modules_of(function)
        if not modules:
            return None
        holder, signature = _Holder(function, modules), function
    named = [*holder.named_parameters(), *holder.named_buffers()]
    weights = {name: _there(x) for name, x in named}

    def bind(inner: Any) -> Any:
        if isinstance(holder, _Holder):
            holder.forward = inner
        return partial(_called, holder, weights)

    return Model(bind, signature, lambda: {name: value(x) for name, x in weights.items()})


def _called(module: torch.nn.Module, weights: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    return functional_call(module, weights, args, kwargs)


def _modules_of(function: Any) -> dict[str, torch.nn.Module]:
    """The modules that a function refers to, by its names for them."""
    found: dict[str, Any] = {}
    own = getattr(function, "__self__", None)
    if own is not None:
        found["self"] = own
    try:
        seen = inspect.getclosurevars(inspect.unwrap(function))
    except TypeError:  # it is not written in Python
        return {}
    found |= {**seen.globals, **seen.nonlocals}
    return {name: x for name, x in found.items() if isinstance(x, torch.nn.Module)}


def _there(x: torch.Tensor) -> torch.Tensor:
    """A tensor of its own on the device, with the value of `x`."""
    made: torch.Tensor = wrap(value(x) if is_lazy(x) else from_cpu(x.detach()))
    return made


def _value_of(x: torch.Tensor) -> np.ndarray:
    return fetch(value(x) if is_lazy(x) else from_cpu(x))


@contextmanager
def _recording() -> Iterator[None]:
    """Record without gradients. Libraries that ask torch are told of an export: some models then
    take a way that asks for no values, as for `torch.export`, which sets the same flags.
    """
    compiler: Any = torch.compiler
    before = compiler._is_compiling_flag, compiler._is_exporting_flag
    compiler._is_compiling_flag = compiler._is_exporting_flag = True
    try:
        with torch.no_grad():
            yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag = before


FRAMEWORK = Framework(
    is_array=lambda x: isinstance(x, torch.Tensor),
    array=wrap,
    value_of=_value_of,
    from_host=torch.from_numpy,
    is_model=lambda function: isinstance(function, torch.nn.Module),
    model=_model,
    recording=_recording,
)
