"""The XLA backend, an implementation of `core.device.backend.Backend`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from lazytensor.backends.xla import shared_library  # isort: skip  # noqa: F401  # before jaxlib
from lazytensor.backends.xla import client, partition
from lazytensor.backends.xla.client import (
    allocated,
    copy,
    device_count,
    host_view,
    platform,
    to_device,
    to_host,
)
from lazytensor.backends.xla.client import block_until_ready as wait
from lazytensor.backends.xla.lowerings.foreign import imported
from lazytensor.backends.xla.module import module_of
from lazytensor.backends.xla.partition import copy_sharded, first_part, join, parts, place
from lazytensor.backends.xla.slot_buffers import slots
from lazytensor.core.device import host_memory
from lazytensor.core.device.backend import Compiled, Effort
from lazytensor.core.device.processes import cluster
from lazytensor.core.errors import OutOfMemory
from lazytensor.core.ir.assumptions import NOTHING_ASSUMED, Assumptions
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import kept_splits

__all__ = [
    "allocated",
    "compile",
    "compiled_for",
    "copy",
    "copy_sharded",
    "device_count",
    "fingerprint",
    "first_part",
    "host_view",
    "imported",
    "join",
    "load",
    "parts",
    "place",
    "platform",
    "slots",
    "stablehlo",
    "to_device",
    "to_host",
    "wait",
]


def compile(
    program: Program,
    assumed: Assumptions,
    donated: Sequence[tuple[int, int]],
    places: Sequence[Place | None],
    effort: Effort = Effort.WAITED,
) -> client.Executable:
    """Compile a program."""
    if program.meshes:
        return _partitioned(program, assumed, donated, places)
    with client.making(effort):
        with metrics.timed("lowering"):
            emitted = module_of(program, assumed, donated, places)
        with metrics.timed("compiling"):
            return _typed(client.compile(*emitted), program)


def load(data: bytes, program: Program) -> client.Executable:
    """The executable of `program` from its serialised bytes."""
    if program.meshes:
        return _typed(partition.load(data, program.meshes[0]), program)
    return _typed(client.deserialize(data), program)


def _partitioned(
    program: Program,
    assumed: Assumptions,
    donated: Sequence[tuple[int, int]],
    places: Sequence[Place | None],
) -> client.Executable:
    """Compile for a mesh; once more, where the partitioner has split a result as no spec says."""
    splits = kept_splits(program)
    while True:
        with metrics.timed("lowering"):
            emitted = module_of(program, assumed, donated, places, splits=splits)
        with metrics.timed("compiling"):
            made = partition.compile(emitted.module, program.meshes[0])
        try:
            return _typed(made, program)
        except partition.Unnamed as unnamed:
            splits |= unnamed.nearest


def _typed(executable: client.Executable, program: Program) -> client.Executable:
    needed = executable.temporary_bytes()
    if needed > client.most_bytes():  # XLA would start it, fail, and lose all results
        size, most = map(host_memory.in_words, (needed, client.most_bytes()))
        raise OutOfMemory(f"Unable to allocate {size} for intermediate results; there are {most}")
    types = [program.instructions[i][3] for i in program.results]
    executable.expect(types + types[-1:] if program.has_verdict else types)
    return executable


def compiled_for(program: Program, target: str) -> Compiled:
    """The program, compiled for a device that need not be here."""
    from lazytensor.backends.xla import targets

    return targets.compiled(program, target)


def stablehlo(program: Program) -> str:
    """The module's text, every slot as data."""
    return str(module_of(program, NOTHING_ASSUMED, is_portable=True).module)


def fingerprint() -> bytes:
    """What an executable depends on: the client, the lowerings, which of several processes."""
    members = cluster()
    place = b"" if members is None else f"{members[1:4]}".encode()
    return _fingerprint() + place


@cache
def _fingerprint() -> bytes:
    """The client's, and a hash of the lowerings, so that a changed one recompiles."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    text = b"".join(path.read_bytes() for path in sources)
    return client.fingerprint() + hashlib.sha256(text).digest()
