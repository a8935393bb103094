"""The samples of operations, as artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lazytensor.artifacts import Artifact
from lazytensor.artifacts.archive import Contents
from lazytensor.artifacts.signature import Port, Signature
from lazytensor.backends.xla.portable import modules
from lazytensor.core.passes.unguarded import unguarded
from lazytensor.core.trace.tracing import traced
from tests.ops.sample import Sample, all_samples
from tests.sweeps import WHOLE

USUAL = ("float32", "float64", "int32", "int64", "bool")


def artifact(sample: Sample) -> Artifact:
    """A sample's call as a program of its operands."""

    def body(nodes: list[Any]) -> list[Any]:
        found = sample.op(*nodes, **sample.attrs)
        return list(found) if isinstance(found, tuple) else [found]

    arrays = sample.arrays
    found = traced(body, arrays)
    program, places = unguarded(found.program, found.places)
    data = modules.serialized(modules.emitted(program, places))
    outputs = [program.instructions[i][3] for i in program.outputs]
    signature = Signature(
        tuple(Port(f"x{i}", x.dtype, x.shape) for i, x in enumerate(arrays)),
        tuple(Port(f"y{i}", t.dtype, t.shape) for i, t in enumerate(outputs)),
        {f"x{i}": "array" for i in range(len(arrays))},
        {"list": ["array"] * len(outputs)},
        (),
    )
    return Artifact(Contents(sample.op.name, signature, data, {}, {}))


def usual() -> Iterator[Sample]:
    """Of each op the first sample of usual dtypes; in the nightly run, the first for each."""
    seen = set()
    for sample in all_samples():
        dtypes = {x.dtype.name for x in sample.arrays}
        kind = (sample.op.name, *sorted(dtypes) * WHOLE)
        if dtypes and dtypes <= set(USUAL) and kind not in seen:
            seen.add(kind)
            yield sample
