"""ONNX: a StableHLO function as a graph of ONNX's operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from lazytensor.artifacts.targets.onnx import (
    control,
    convert,
    elementwise,
    indexing,
    movement,
    reduction,
)
from lazytensor.artifacts.targets.onnx.graph import Graph, Refused, info
from lazytensor.backends.xla.portable import operations
from lazytensor.backends.xla.portable.expanded import expanded
from lazytensor.backends.xla.portable.simplified import simplified

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

for _each in (control, elementwise, indexing, movement, reduction):
    convert.rows.update(_each.ROWS)

__all__ = ["Refused", "model"]


def model(artifact: Artifact) -> Any:
    """The ONNX model of an artifact, checked. Raises: Refused for an operation that ONNX lacks."""
    module = operations.read(simplified(expanded(artifact.program)))
    g = Graph(module)
    inputs, outputs = artifact.inputs, artifact.outputs
    names = [port.name for port in (*inputs, *artifact.signature.weights)]
    results = convert.inlined(g, module.main, names)
    for port, name in zip(outputs, results, strict=True):
        g.nodes.append(helper.make_node("Identity", [name], [port.name]))
    weights = [numpy_helper.from_array(np.asarray(x), k) for k, x in artifact.weights.items()]
    types = module.types
    ends = zip(inputs, module.main.arguments, strict=False)
    given = [info(port.name, types[value], port.shape) for port, value in ends]
    both = zip(outputs, module.main.results, strict=True)
    made = [info(port.name, types[value], port.shape) for port, value in both]
    graph = helper.make_graph(g.nodes, artifact.name, given, made, [*weights, *g.constants])
    opsets = [helper.make_opsetid("", g.opset)]
    found = helper.make_model(graph, opset_imports=opsets, producer_name="lazytensor")
    found.ir_version = helper.find_min_ir_version_for(opsets)
    try:
        onnx.checker.check_model(found, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise Refused(f"this program: {' '.join(str(error).split())[:300]}") from error
    return found
