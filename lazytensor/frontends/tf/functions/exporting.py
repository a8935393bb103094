"""TF's tensors, and models with variables, as arguments and bodies of functions recorded."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from lazytensor.core.buffers.interop import shown
from lazytensor.core.errors import NoValue
from lazytensor.core.ir.node import Node
from lazytensor.core.trace.frameworks import Framework, Model
from lazytensor.frontends.tf.dispatch import steps
from lazytensor.frontends.tf.dispatch.switch import enabled
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import LazyTensor, ValueNeeded


def _model(function: Any) -> Model:
    """A Keras model or layer, a `tf.Module`, a `tf.function`, or a function that may use some."""
    variables = dict(_variables_of(function))
    is_trained = getattr(function, "_call_has_training_arg", False)
    bind = partial(partial, _called, is_trained)
    return Model(bind, _signature(function), partial(_now, variables))


def _called(is_trained: bool, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function gives. A value that it asks for is a `NoValue`.

    is_trained: whether it is to be told that this is no training, as a Keras layer is.
    """
    given = {"training": False, **kwargs} if is_trained else kwargs
    try:
        return function(*args, **given)
    except ValueNeeded as error:
        raise NoValue("there are no values in the body of a function") from error


def _signature(function: Any) -> Any:
    is_layer = hasattr(function, "call_signature_parameters")
    return function.call if is_layer else getattr(function, "python_function", function)


def _variables_of(function: Any) -> Iterator[tuple[str, Any]]:
    """The variables of an object, or of the objects in a function's scope, by name."""
    if hasattr(function, "call_signature_parameters"):  # Keras's
        yield from ((x.path, x.value) for x in function.weights)
    elif isinstance(function, tf.Module):
        yield from _named(function.variables)
    else:
        inner = inspect.unwrap(getattr(function, "python_function", function))
        try:
            seen = inspect.getclosurevars(inner)
        except TypeError:  # it is not written in Python
            return
        for name, x in {**seen.globals, **seen.nonlocals, "self": _self(inner)}.items():
            if isinstance(x, tf.Variable):
                yield name, x
            elif isinstance(x, tf.Module) or hasattr(x, "call_signature_parameters"):
                yield from ((f"{name}.{inside}", v) for inside, v in _variables_of(x))


def _is_model(function: Any) -> bool:
    """Whether a function is a Keras layer, a `tf.Module` or a `tf.function`."""
    marks = ("call_signature_parameters", "python_function")
    return isinstance(function, tf.Module) or any(hasattr(function, mark) for mark in marks)


def _self(function: Any) -> Any:
    return getattr(function, "__self__", None)


def _named(variables: Any) -> Iterator[tuple[str, Any]]:
    seen: dict[str, int] = {}
    for x in variables:
        name = x.name.removesuffix(":0")
        seen[name] = seen.get(name, -1) + 1
        yield f"{name}_{seen[name]}" if seen[name] else name, x


def _now(variables: dict[str, Any]) -> dict[str, Node]:
    offers = {name: shown(x) for name, x in variables.items()}
    return {name: offer.node for name, offer in offers.items() if offer is not None}


@contextmanager
def _recording() -> Iterator[None]:
    """Record the body of a function. What it demands of values is not checked."""
    with enabled():
        steps.settle_variables()
        flags, state.flags = state.flags, []
        state.tracing += 1
        try:
            yield
        finally:
            state.tracing -= 1
            state.flags = flags


FRAMEWORK = Framework(
    is_array=tf.is_tensor,
    array=LazyTensor,
    value_of=lambda x: np.array(x),
    from_host=tf.constant,
    is_model=_is_model,
    model=_model,
    recording=_recording,
)
