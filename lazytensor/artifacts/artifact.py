"""Exported programs: called, saved, loaded, and written for other runtimes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lazytensor.artifacts import archive
from lazytensor.artifacts.archive import BadArtifact, Contents
from lazytensor.artifacts.signature import Port, Signature
from lazytensor.artifacts.trees import ARRAY
from lazytensor.core.device.backend import backend
from lazytensor.core.errors import Unsupported

if TYPE_CHECKING:
    from lazytensor.backends.xla.portable.running import Call

PLACES: Final = ("inside", "beside")


class Artifact:
    """A program with its weights, which runs without the code that it was made from.

    `artifact(*arguments)` runs it by XLA and gives NumPy arrays; `artifact.call` is the same
    function of jax arrays, for use inside `jax.jit`.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._calls: dict[tuple[Any, ...], Call] = {}
        self._held: list[Any] | None = None
        self._is_flat = all(form == ARRAY for form in self.signature.arguments.values())
        self._gives_one = self.signature.results == ARRAY

    @property
    def contents(self) -> Contents:
        """All that it has."""
        return self._contents

    @property
    def name(self) -> str:
        """The program's name."""
        return self._contents.name

    @property
    def signature(self) -> Signature:
        """What it takes and gives."""
        return self._contents.signature

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arrays that it takes, in order: name, dtype, shape."""
        return self.signature.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The arrays that it gives, in order."""
        return self.signature.outputs

    @property
    def weights(self) -> Mapping[str, np.ndarray]:
        """The weights by name, read-only."""
        return self._contents.weights

    @property
    def program(self) -> bytes:
        """The program in StableHLO's portable form: `main` takes the inputs, then the weights."""
        return self._contents.program

    def stablehlo(self) -> str:
        """The program as text."""
        from lazytensor.backends.xla.portable import modules

        return modules.text(self.program)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, x)) for x in (self.inputs, self.outputs))
        return f"<Artifact {self.name}: ({inputs}) -> ({outputs}), {len(self.weights)} weights>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the program gives: NumPy arrays, in the form that the exported function gave.

        args, kwargs: as of the exported function, without the arguments that had no arrays. Raises:
        TypeError, ShapeError, DTypeError for other arguments; ValueError if XLA refuses it.
        """
        if kwargs or not self._is_flat or len(args) != len(self.inputs):
            args = tuple(self.signature.arrays(args, kwargs))
        arrays = [x if type(x) is np.ndarray else _array(x) for x in args]
        call = self._calls.get(tuple([(x.shape, x.dtype) for x in arrays]))
        if call is None:
            call = self._new_call(arrays)
        results = call(arrays)
        return results[0] if self._gives_one else self.signature.built(iter(results))

    @cached_property
    def call(self) -> Any:
        """The program as a function of jax arrays, for use inside `jax.jit`.

        It has no derivative. Raises: as a call of the artifact.
        """
        from lazytensor.backends.xla.portable import jax_export

        weights = list(self.weights.values())
        exported = jax_export.exported(
            self.name, self.program, [*self.inputs, *self.signature.weights], self.outputs
        )

        def call(*args: Any, **kwargs: Any) -> Any:
            arrays = self.signature.arrays(args, kwargs)
            self.signature.sizes([x if hasattr(x, "dtype") else np.asarray(x) for x in arrays])
            return self.signature.built(iter(exported.call(*arrays, *weights)))

        return call

    def save(self, path: str | os.PathLike[str], weights: str = "inside") -> Path:
        """Write the artifact to one file, which is replaced as a whole; the path.

        weights: "inside", or "beside" for a file of their own, with the suffix `.safetensors`, that
        has to stay beside it. Raises: OSError; ValueError for another word.
        """
        if weights not in PLACES:
            raise ValueError(f"save: weights must be one of {PLACES}, got {weights!r}")
        target = Path(path)
        archive.write(target, self._contents, beside=weights == "beside")
        return target

    def to(self, target: str, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the program for another runtime: see `docs/export.md` for targets and options.

        Raises: ValueError for an unknown target or option; Unsupported for an operation that the
        target lacks, before anything is written; ImportError where its package is missing; OSError.
        """
        from lazytensor.artifacts import targets

        return targets.write(self, target, Path(path), **options)

    def _new_call(self, arrays: list[np.ndarray]) -> Call:
        """What runs the program for arrays of these types. Raises: ShapeError, DTypeError."""
        from lazytensor.backends.xla.portable import running

        sizes = self.signature.sizes(arrays)
        inputs = [port.sized(sizes) for port in self.inputs]
        weights = [port.sized({}) for port in self.signature.weights]
        outputs = [port.sized(sizes) for port in self.outputs]
        found = running.executable(self.program, [*inputs, *weights], outputs)
        if self._held is None:
            there = backend()
            self._held = [there.to_device(x, owned=True) for x in self.weights.values()]
        made = running.Call(found, inputs, self._held)
        self._calls[tuple([(x.shape, x.dtype) for x in arrays])] = made
        return made


def load(path: str | os.PathLike[str]) -> Artifact:
    """The artifact that `Artifact.save` wrote.

    The frameworks that it was made with are not needed. Raises: OSError; ValueError for a file that
    is no artifact, or a damaged one.
    """
    contents = archive.read(Path(path))
    from lazytensor.backends.xla.portable import operations

    inputs = [*contents.signature.inputs, *contents.signature.weights]
    try:
        operations.check(contents.program, inputs, contents.signature.outputs)
    except (ValueError, Unsupported) as error:
        raise BadArtifact(f"{path}: {error}") from error
    return Artifact(contents)


def _array(x: Any) -> np.ndarray:
    """An argument as NumPy's array."""
    return np.asarray(x.detach().cpu() if hasattr(x, "detach") else x)
