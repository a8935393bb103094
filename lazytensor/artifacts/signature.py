"""What a program takes and gives: names, dtypes, shapes, and the form of the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lazytensor.artifacts import trees
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.sizes import Size, number_of
from lazytensor.core.ir.types import TensorType, tensor_type


class Port(NamedTuple):
    """An input or output. A size that is known at run time only is text (see `core.ir.sizes`)."""

    name: str
    dtype: np.dtype
    shape: tuple[Size, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype.name}[{', '.join(map(str, self.shape))}]"

    def sized(self, sizes: Mapping[str, int]) -> TensorType:
        """The type, with sizes by name."""
        return tensor_type(self.dtype, tuple(number_of(n, sizes) for n in self.shape))


class Signature(NamedTuple):
    """Inputs, outputs, and how they lie in arguments and results.

    arguments: the form of each argument, by name. results: that of a call's results. symbol: the
    name of the size that is known at run time only, if there is one. weights: the parameters after
    the inputs.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    arguments: Mapping[str, trees.Form]
    results: trees.Form
    weights: tuple[Port, ...]
    symbol: str = ""

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays in the arguments of a call, in the order of the inputs. Raises: TypeError."""
        names = list(self.arguments)
        if len(args) > len(names):
            text = f"{', '.join(names)} are taken; got {len(args)} arguments"
            raise TypeError(text)
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.arguments or name in given:
                why = "given twice" if name in given else f"no argument; there are {names}"
                raise TypeError(f"{name}: {why}")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{', '.join(missing)}: the program needs a value")
        return list(self._spread(given))

    def _spread(self, given: Mapping[str, Any]) -> Iterator[Any]:
        for name, form in self.arguments.items():
            yield from trees.arrays_of(form, given[name], name)

    def sizes(self, arrays: Sequence[Any]) -> dict[str, int]:
        """The sizes that have a name. Raises: ShapeError, DTypeError for other arrays."""
        found: dict[str, int] = {}
        for port, x in zip(self.inputs, arrays, strict=True):
            fits = len(x.shape) == len(port.shape)
            for wanted, n in zip(port.shape, x.shape, strict=False):
                if isinstance(wanted, str):
                    wanted = found.setdefault(wanted, n)
                fits = fits and wanted == n
            if not fits:
                known = "".join(f" ({name} is {n})" for name, n in found.items())
                raise ShapeError(f"{port} was expected, got the shape {tuple(x.shape)}{known}")
            if x.dtype != port.dtype:
                raise DTypeError(f"{port} was expected, got the dtype {x.dtype}")
        return found

    def built(self, outputs: Iterator[Any]) -> Any:
        """What a call gives, from its outputs in order."""
        return trees.built(self.results, outputs)
