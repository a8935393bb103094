"""Every op compiles for an H100 and for a TPU v5e, or is refused with a reason."""

from __future__ import annotations

from typing import Final

import pytest

from lazytensor.backends.xla import targets
from lazytensor.backends.xla.limits import Refused
from lazytensor.core import ops
from lazytensor.core.ir.graph import numbered, reachable
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.program import Program, program_of
from tests.ops.sample import Sample
from tests.ops.test_laws import SAMPLED, samples_of

SECONDS: Final = 20.0
"""Within which each program compiles, by the issue that asked for this law."""
SLOWER: Final = {ops.polygamma: 150.0, ops.reduce_gcd: 80.0}
"""On a v5e: long loops in f64 and over 64-bit integers, both of which a TPU emulates."""
LIBRARY: Final = {ops.eig, ops.eigvals, ops.eig_checked, ops.eigvals_checked}
"""jax asks the installed cuSOLVER for its version when it lowers these: they need the library."""


def program(sample: Sample) -> Program:
    outputs = list(sample.record())
    return program_of(numbered(reachable(outputs), outputs))


def one_of_each_type(op: Op) -> list[Sample]:
    """The first sample for each combination of dtypes."""
    found: dict[tuple[str, ...], Sample] = {}
    for sample in samples_of(op):
        found.setdefault(tuple(str(x.dtype) for x in sample.arrays), sample)
    return list(found.values())


def compiled(sample: Sample, target: str) -> targets.CompiledFor | Refused:
    try:
        return targets.compiled(program(sample), target)
    except Refused as refused:
        return refused


@pytest.mark.timeout(900)
@pytest.mark.parametrize("op", SAMPLED, ids=lambda op: op.name)
def test_compiles_or_is_refused(op: Op, target: str) -> None:
    if target == "h100" and op in LIBRARY:
        pytest.skip("lowering it needs cuSOLVER")
    bound = SLOWER.get(op, SECONDS) if target == "v5e" else SECONDS
    for sample in one_of_each_type(op):
        made = compiled(sample, target)
        if isinstance(made, Refused):
            assert target == "v5e", sample
            assert op.name in str(made), sample
            assert "use a narrower dtype" in str(made), sample
        else:
            assert made.seconds <= bound, sample
