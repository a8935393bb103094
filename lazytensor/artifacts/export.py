"""`lazytensor.export`: from a function or model to an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lazytensor.artifacts.archive import Contents
from lazytensor.artifacts.artifact import Artifact
from lazytensor.artifacts.signature import Port, Signature
from lazytensor.artifacts.tracing import Example, Traced, type_name
from lazytensor.core.ir.sizes import Size, fitted
from lazytensor.core.ir.types import TensorType
from lazytensor.core.runtime.scheduler import fetch

Symbolic = Mapping[str, Mapping[int, str]]
"""By input, by axis: the name of a size that is known at run time only."""


def export(
    function: Any,
    /,
    *args: Any,
    name: str = "",
    symbolic: Symbolic | None = None,
    **kwargs: Any,
) -> Artifact:
    """A function of arrays, or a model, as a program that runs without the code it is made from.

    function: of lazy NumPy arrays, torch tensors, TensorFlow tensors, or of several of these; a
    torch module, a Keras model, a `tf.function`. It is called once with arrays without values that
    have the types of `args` and `kwargs`, as for inference: Keras models with `training=False`, no
    gradients. Arguments without arrays are fixed in the program. name: the function's, if empty.
    symbolic: which sizes of inputs vary, as `{"x": {0: "batch"}}`; one name, on any number of axes;
    the function is called three times more. Weights are those of modules and models that the
    function is or refers to.

    Raises: Unsupported if the function asks for a value of an array, draws random numbers, changes
    a weight, or has an operation that no portable program has; TypeError for arguments without
    arrays, or results that are none.
    """
    example = Example(function, args, kwargs)
    symbol, axes = _symbol(example, symbolic or {})
    others = [example.traced(_sized(example, axes, n)) for n in _sizes(example, axes)]
    found = example.traced(example.values())
    if others:
        made, inputs, outputs = _for_all_sizes(found, others, symbol, axes)
    else:
        made, inputs, outputs = _program(found), _ports(found.inputs), _ports(found.outputs)
    weights = {key: fetch(node) for key, node in found.weights.items()}
    signature = Signature(
        inputs=inputs,
        outputs=outputs,
        arguments=found.arguments,
        results=found.results,
        weights=_ports([(key, node.type) for key, node in found.weights.items()]),
        symbol=symbol,
    )
    return Artifact(
        Contents(name or _name(function), signature, made, _frozen(weights), _versions())
    )


def _program(found: Traced) -> bytes:
    from lazytensor.backends.xla.portable import modules

    return modules.serialized(modules.emitted(found.program, found.places))


Axes = set[tuple[str, int]]
"""Inputs' axes whose size is known at run time only."""


def _symbol(example: Example, symbolic: Symbolic) -> tuple[str, Axes]:
    """The name of the size that is left open, and where it is. Raises: ValueError."""
    names = {name for axes in symbolic.values() for name in axes.values()}
    if not names:
        return "", set()
    if len(names) > 1 or not all(str(name).isidentifier() for name in names):
        raise ValueError(f"export: symbolic: one name of a size was expected, got {sorted(names)}")
    found = set()
    for key, axes in symbolic.items():
        if key not in example.arrays:
            there = ", ".join(example.arrays)
            raise ValueError(f"export: symbolic: there is no input {key!r}; there are {there}")
        rank = len(example.arrays[key].shape)
        for axis in axes:
            if not -rank <= axis < rank:
                raise ValueError(f"export: symbolic: {key} has {rank} axes, not the axis {axis}")
            found.add((key, axis % rank))
    sizes = {example.arrays[key].shape[axis] for key, axis in found}
    if len(sizes) > 1:
        raise ValueError(f"export: symbolic: the inputs give {names} the sizes {sorted(sizes)}")
    return names.pop(), found


def _sizes(example: Example, axes: Axes) -> list[int]:
    """Three sizes to find the others from; not 1, which NumPy's rules treat in another way."""
    if not axes:
        return []
    key, axis = next(iter(axes))
    first = max(int(example.arrays[key].shape[axis]), 3)
    return [first, first + 1, first + 3]


def _sized(example: Example, axes: Axes, n: int) -> list[np.ndarray]:
    """Values of the inputs, with another size on some axes."""
    found = []
    for name, x in zip(example.arrays, example.values(), strict=True):
        shape = tuple(n if (name, i) in axes else size for i, size in enumerate(x.shape))
        found.append(np.zeros(shape, x.dtype))
    return found


def _for_all_sizes(
    found: Traced, others: list[Traced], symbol: str, axes: Axes
) -> tuple[bytes, tuple[Port, ...], tuple[Port, ...]]:
    from lazytensor.backends.xla.portable import modules, symbolic

    key, axis = next(iter(axes))
    sizes = [dict(each.inputs)[key].shape[axis] for each in others]
    made = symbolic.unified([modules.emitted(x.program, x.places) for x in others], sizes)

    def ports(each: str) -> tuple[Port, ...]:
        named = [getattr(other, each) for other in others]
        return tuple(
            Port(name, type.dtype, _open([dict(x)[name].shape for x in named], sizes, symbol))
            for name, type in getattr(found, each)
        )

    return modules.serialized(made), ports("inputs"), ports("outputs")


def _open(shapes: list[tuple[int, ...]], sizes: list[int], symbol: str) -> tuple[Size, ...]:
    found: list[Size] = []
    for values in zip(*shapes, strict=True):
        size = fitted(values, sizes)
        assert size is not None
        found.append(size.text(symbol))
    return tuple(found)


def _ports(named: list[tuple[str, TensorType]]) -> tuple[Port, ...]:
    return tuple(Port(name, type.dtype, type.shape) for name, type in named)


def _frozen(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    for x in weights.values():
        x.flags.writeable = False
    return weights


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "") or type_name(function)).strip("<>")


def _versions() -> dict[str, str]:
    """What made the artifact, and the StableHLO that is needed to read it."""
    import lazytensor
    from lazytensor.backends.xla.portable import modules

    return {"lazytensor": lazytensor.__version__, "stablehlo": modules.version()}
