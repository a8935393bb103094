"""Operations given as StableHLO modules of another compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lazytensor.core.device.backend import backend
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.attribute import Definition
from lazytensor.core.ir.op import variadic
from lazytensor.core.ir.types import ResultType, TensorType

Run = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]


class Foreign(Definition):
    """A StableHLO module whose `main` is an operation.

    name: printed in programs. text: the module. run: the same operation on arrays of the host, for
    the interpreter. Raises: Unsupported if the backend cannot inline the module.
    """

    def __init__(self, name: str, text: str, run: Run) -> None:
        found = backend().imported(text)
        super().__init__(name, found.text)
        self.operands = found.operands
        self.results = found.results
        self.run = run


@variadic
def foreign(*operands: TensorType, module: Foreign) -> ResultType:
    """The results of a StableHLO module.

    operands: of the types of the module's parameters. module: see `Foreign`. Result: of the types
    of the module's results, a tuple if there are several. Raises: ShapeError, DTypeError for other
    operands.
    """
    if operands != module.operands:
        given, wanted = (", ".join(map(str, types)) for types in (operands, module.operands))
        same = [t.shape for t in operands] == [t.shape for t in module.operands]
        error = DTypeError if same else ShapeError
        raise error(f"foreign: {module} takes ({wanted}), got ({given})")
    return module.results if len(module.results) > 1 else module.results[0]
