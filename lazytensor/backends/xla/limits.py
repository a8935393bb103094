"""What XLA's compilers for other platforms cannot do, though StableHLO has it.

A program that asks for it is refused while it is emitted, with the operation and the user's line.
Some of these compilers end the process instead of raising an error. The compile law in
`tests/accelerators` shows each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import C128, F64, STORED
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.source_location import describe

Rows = Mapping[str, frozenset[np.dtype]]

ANY: Final = "any"
"""The row of all operations."""
DECOMPOSITIONS: Final = (
    *("cholesky", "det", "eigh", "eigvalsh", "householder_product", "inv", "lu", "qr"),
    *("singular_values", "slogdet", "solve", "svd", "triangular_solve"),
)
_OF_A_TPU: Final = {
    ANY: frozenset([C128]),  # its parts are f64, which a TPU has as pairs of f32
    **dict.fromkeys(("bitcast_convert", "reduce_precision", "sort", "remainder"), frozenset([F64])),
    "fft": frozenset([F64, C128]),
    **dict.fromkeys(DECOMPOSITIONS, frozenset([F64])),
    **dict.fromkeys(("eig", "eigvals"), STORED),
}
_OF_WHAT_LEAVES: Final = dict.fromkeys(("eig", "eigvals"), STORED)
LIMITS: Final[Mapping[str, Rows]] = {"tpu": _OF_A_TPU, "portable": _OF_WHAT_LEAVES}
"""Per platform and operation, the dtypes of operands and results that are refused."""


class Refused(Unsupported):
    """An operation that a platform's compiler lacks.

    `op`: the user's operation, of which it is a part. `place`: where that was recorded.
    """

    def __init__(self, platform: str, name: str, dtype: np.dtype) -> None:
        super().__init__(platform, name, dtype)
        self.platform, self.name, self.dtype = platform, name, dtype
        self.op = ""
        self.place: Place | None = None

    def __str__(self) -> str:
        part = "" if self.op in ("", self.name) else f", which {self.op} needs"
        where = "" if self.place is None else f" (recorded at {describe(self.place)})"
        cure = "use a narrower dtype, or compute it on the host"
        text = f"{self.platform}: XLA cannot compile {self.name} of {self.dtype} there{part}{where}"
        return f"{text}; {cure}. The limits are in lazytensor/backends/xla/limits.py"


def check(platform: str, rows: Rows, name: str, dtypes: Iterable[np.dtype]) -> None:
    """Raise Refused if the compiler of a platform lacks the operation for one of the dtypes."""
    refused = rows.get(name, frozenset()) | rows.get(ANY, frozenset())
    for dtype in dtypes:
        if dtype in refused:
            raise Refused(platform, name, dtype)
