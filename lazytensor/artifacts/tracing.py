"""From a user's function or model to a program: its inputs, its weights, its results.

The function is called with arrays that have no values yet, and what it records is the program. A
model's weights, and other arrays that the function uses, are parameters with values. Afterwards the
inputs get the example's values, so that an array which the function kept is what a call gives.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from os.path import basename
from traceback import walk_tb
from types import TracebackType
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.artifacts import trees
from lazytensor.core.buffers.interop import shown
from lazytensor.core.errors import NoValue, Unsupported
from lazytensor.core.ir.library_files import is_hidden
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.passes.unguarded import unguarded
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace.frameworks import Framework
from lazytensor.core.trace.tracing import traced

FRAMEWORKS: Final = {
    "torch": "lazytensor.frontends.torch.device.exporting",
    "tensorflow": "lazytensor.frontends.tf.functions.exporting",
    "numpy": "lazytensor.frontends.numpy.interop.exporting",
}
"""Per framework the module with its `FRAMEWORK`."""
Weights = Mapping[str, Node]


class Traced(NamedTuple):
    """A function as a program.

    inputs, outputs: the path and type of each. arguments: the form of each argument that has
    arrays, by name. results: the form of the function's results. weights: the values of the other
    parameters, by name, in their order.
    """

    program: Program
    places: tuple[Place | None, ...]
    inputs: list[tuple[str, TensorType]]
    outputs: list[tuple[str, TensorType]]
    arguments: dict[str, trees.Form]
    results: trees.Form
    weights: dict[str, Node]


class Example:
    """A call of a function: its arguments, and the arrays in them."""

    def __init__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.frameworks = _frameworks()
        found = [each.model(function) for each in self.frameworks]
        self.models = [model for model in found if model is not None]
        self.function = function
        for model in self.models:
            self.function = model.bind(self.function)
        asked = self.models[0].signature if self.models else function
        self.call, self.bound = _bound(asked, tuple(args), dict(kwargs))
        self.arrays = dict(self._arrays())
        if not self.arrays:
            raise TypeError("export: the example arguments have no array, so there are no inputs")

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        for name, value in self.bound.items():
            yield from trees.arrays_in(value, self.is_array, name)

    def is_array(self, x: Any) -> bool:
        """Whether a value is an array of a framework that is imported."""
        return any(each.is_array(x) for each in self.frameworks)

    def framework(self, x: Any) -> Framework:
        """The framework of an array."""
        return next(each for each in self.frameworks if each.is_array(x))

    def values(self) -> list[np.ndarray]:
        """The values of the arrays."""
        return [self.framework(x).value_of(x) for x in self.arrays.values()]

    def arguments(self) -> dict[str, trees.Form]:
        """The form of each argument that has arrays."""
        return {
            name: trees.form_of(x, self.is_array)
            for name, x in self.bound.items()
            if any(trees.arrays_in(x, self.is_array, ""))
        }

    def traced(self, values: Sequence[np.ndarray]) -> Traced:
        """The function as a program over inputs of these values' types.

        Raises: Unsupported where the function asks for a value or changes a weight.
        """
        scheduler.sync(cause="export")
        results: list[Any] = []

        def body(inputs: list[Node]) -> list[Node]:
            try:
                results.append(self._called(inputs))
                return [_node(x) for _, x in trees.arrays_in(results[0], _is_lazy, "")]
            except NoValue as error:
                raise Unsupported(_asked(error)) from error

        with ExitStack() as stack:
            for framework in self.frameworks:
                stack.enter_context(framework.recording())
            weights = [model.weights() for model in self.models]
            found = traced(body, values)
            _check_unchanged(weights, [model.weights() for model in self.models])
        names = [name for name, _ in trees.arrays_in(results[0], _is_lazy, "")]
        if not names:
            kind = type_name(results[0])
            raise TypeError(f"export: the function must return arrays, got {kind}")
        program, places = unguarded(found.program, found.places)
        outs = [program.instructions[i][3] for i in program.outputs]
        return Traced(
            program,
            tuple(map(_short, places)),
            [(k, tensor_type(x.dtype, x.shape)) for k, x in zip(self.arrays, values, strict=True)],
            list(zip(_output_names(names, self.arrays), outs, strict=True)),
            self.arguments(),
            trees.form_of(results[0], _is_lazy),
            _named(found.leaves, weights, self.arrays),
        )

    def _called(self, inputs: list[Node]) -> Any:
        given = (
            self.framework(x).array(node)
            for x, node in zip(self.arrays.values(), inputs, strict=True)
        )
        bound = {k: trees.replaced(x, self.is_array, given) for k, x in self.bound.items()}
        return self.call(self.function, bound)


def _check_unchanged(before: Sequence[Weights], after: Sequence[Weights]) -> None:
    """Raises: Unsupported if a call has changed a weight."""
    pairs = [
        (name, x, now[name])
        for was, now in zip(before, after, strict=True)
        for name, x in was.items()
    ]
    changed = [name for name, was, now in pairs if was is not now]
    if changed:
        text = "a program has no state: call the model as for inference (model.eval())"
        raise Unsupported(f"export: the call changes {', '.join(changed[:5])}; {text}")


def _named(
    leaves: Sequence[Node], weights: Sequence[Weights], inputs: Container[str]
) -> dict[str, Node]:
    """The weights that are used, by their models' names for them; others by number."""
    known = {node: name for each in weights for name, node in each.items()}
    found: dict[str, Node] = {}
    for leaf in leaves:
        name = known.get(leaf, f"constant_{len(found)}")
        while name in inputs or name in found:
            name = f"weight_{name}"
        found[name] = leaf
    return found


def from_host(function: Any, array: np.ndarray) -> Any:
    """An array with NumPy's values, of the framework that a model is of, or NumPy's own."""
    *others, numpys = _frameworks()
    own = (each for each in others if each.is_model(function))
    return next(own, numpys).from_host(array)


def _frameworks() -> list[Framework]:
    return [
        import_module(module).FRAMEWORK
        for name, module in FRAMEWORKS.items()
        if name in sys.modules
    ]


Call = Callable[[Any, dict[str, Any]], Any]
"""Calls a function with arguments by the names of its parameters."""


def _bound(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Call, dict[str, Any]]:
    """How to call a function, and its arguments by name, in the order of its parameters."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # it is written in C
        names = [f"input_{i}" for i in range(len(args))]

        def call(called: Any, by_name: dict[str, Any]) -> Any:
            given = [by_name.pop(name) for name in names]
            return called(*given, **by_name)

        return call, {**dict(zip(names, args, strict=True)), **kwargs}
    found = signature.bind(*args, **kwargs)

    def call_bound(called: Any, by_name: dict[str, Any]) -> Any:
        found.arguments = by_name
        return called(*found.args, **found.kwargs)

    return call_bound, dict(found.arguments)


def _is_lazy(x: Any) -> bool:
    return shown(x) is not None


def _node(x: Any) -> Node:
    offer = shown(x)
    assert offer is not None
    return offer.node


def _output_names(paths: list[str], inputs: Container[str]) -> list[str]:
    """Names that no input has."""
    names = [f"output_{path}" if path[:1].isdigit() else path or "output" for path in paths]
    return [f"output_{name}" if name in inputs else name for name in names]


def _asked(error: NoValue) -> str:
    cause = error.__cause__  # TensorFlow's own, which has come from the user's line
    place = _line((error if cause is None else cause).__traceback__)
    where = f" at {place}" if place else ""
    return (
        f"export: the function asks{where} for a value of an array that depends on its arguments "
        f"({error}). A program cannot wait for it: use where(), or compute it outside"
    )


def _short(place: Place | None) -> Place | None:
    """The place with its file's name only: a program goes to others."""
    if place is None:
        return None
    code, offset = place
    return code.replace(co_filename=basename(code.co_filename)), offset


def _line(traceback: TracebackType | None) -> str:
    """The user's line that an error comes from; empty if there is none."""
    found = ""
    for frame, line in walk_tb(traceback):
        if not is_hidden(frame.f_code.co_filename):
            found = f"{basename(frame.f_code.co_filename)}:{line}"
    return found


def type_name(x: Any) -> str:
    """The name of a value's class."""
    return type(x).__name__
