"""`lazytensor.export`: from a function or model to an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lazytensor.artifacts.archive import Contents
from lazytensor.artifacts.artifact import Artifact
from lazytensor.artifacts.signature import Port, Signature
from lazytensor.artifacts.tracing import Example, Traced, type_name
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
    found = example.traced(example.values())
    made = _program(found)
    weights = {key: fetch(node) for key, node in found.weights.items()}
    signature = Signature(
        inputs=_ports(found.inputs),
        outputs=_ports(found.outputs),
        arguments=found.arguments,
        results=found.results,
        weights=_ports([(key, node.type) for key, node in found.weights.items()]),
    )
    return Artifact(
        Contents(name or _name(function), signature, made, _frozen(weights), _versions())
    )


def _program(found: Traced) -> bytes:
    from lazytensor.backends.xla.portable import modules

    return modules.serialized(modules.emitted(found.program, found.places))


def _ports(named: list[tuple[str, TensorType]]) -> tuple[Port, ...]:
    return tuple(Port(name, type.dtype, type.shape) for name, type in named)


def _frozen(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    for x in weights.values():
        x.flags.writeable = False
    return weights


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "") or type_name(function)).strip("<>")


def _versions() -> dict[str, str]:
    import lazytensor

    return {"lazytensor": lazytensor.__version__}
