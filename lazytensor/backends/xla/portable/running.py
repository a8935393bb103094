"""Portable modules, compiled for this machine and kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxlib import _jax
from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import ir_type
from lazytensor.backends.xla.builder import bytecode_of
from lazytensor.backends.xla.portable.modules import forked, main, parsed, retype
from lazytensor.core.device.backend import HOST_PLATFORM
from lazytensor.core.errors import LazyTensorError, Unsupported
from lazytensor.core.ir.types import TensorType
from lazytensor.core.observe import metrics
from lazytensor.core.runtime import disk_cache


class NotPortable(LazyTensorError, ValueError):
    """A module that XLA refuses."""


def executable(
    data: bytes, inputs: Sequence[TensorType], results: Sequence[TensorType]
) -> client.Executable:
    """The executable of a portable module for inputs of these types.

    It comes from disk, if it was compiled before. Raises: ValueError for damaged bytes; NotPortable
    where XLA refuses the module.
    """
    _refuse_in_child()
    said = "\n".join(map(str, (*inputs, "->", *results)))
    key = data + said.encode() + client.fingerprint()
    found = _known(key)
    if found is None:
        with metrics.timed("compiling"):
            found = _compiled(data, inputs)
        metrics.count("compiles")
        disk_cache.keep(key, "an artifact", found.serialize)
    found.expect(results)
    return found


class Call:
    """An executable with its weights on the device, as a function of NumPy arrays.

    inputs: the types of the arrays. They are not checked.
    """

    def __init__(
        self, found: client.Executable, inputs: Sequence[TensorType], weights: Sequence[Any]
    ) -> None:
        self.run = found
        self.uploads = [client.uploads(type.shape, type.dtype) for type in inputs]
        self.weights = weights
        self.fetched = client.copied if client.platform() == HOST_PLATFORM else client.to_host

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results. Raises: Unsupported in a process that was forked."""
        _refuse_in_child()
        buffers = [upload([x]) for upload, x in zip(self.uploads, arrays, strict=True)]
        return list(map(self.fetched, self.run.directly([*buffers, *self.weights])))


def _refuse_in_child() -> None:
    """Raises: Unsupported in a process that was forked from one that has read programs."""
    if forked.is_child:
        text = "a process made by os.fork lacks XLA's threads, which this program needs"
        raise Unsupported(f"{text}: start it by 'spawn', or load programs after the fork only")


def _known(key: bytes) -> client.Executable | None:
    with metrics.timed("loading"):
        kept = disk_cache.kept(key)
        if kept is None:
            return None
        try:
            found = client.deserialize(kept)
        except client.CorruptExecutable:
            return None
    metrics.count("disk_hits")
    return found


def _compiled(data: bytes, inputs: Sequence[TensorType]) -> client.Executable:
    module = parsed(data)
    try:
        if _is_dynamic(module):
            return client.compile(refined(module, inputs))
        return client.compile(module)
    except (ir.MLIRError, client.ExecutionError) as error:
        raise NotPortable(f"XLA refuses the program: {error}") from error


def refined(module: ir.Module, inputs: Sequence[TensorType]) -> bytes:
    """The module with the sizes that follow from those of its inputs."""
    with client.context(), ir.Location.unknown():
        function = main(module)
        block = function.regions[0].blocks[0]
        for argument, type in zip(block.arguments, inputs, strict=True):
            argument.set_type(ir_type(type))
        retype(function)
        made: bytes = _jax.mlir.refine_polymorphic_shapes(
            bytecode_of(module.operation),
            enable_shape_assertions=False,
            validate_static_shapes=True,
        )
    return made


def _is_dynamic(module: ir.Module) -> bool:
    arguments = main(module).regions[0].blocks[0].arguments
    return not all(ir.RankedTensorType(x.type).has_static_shape for x in arguments)
