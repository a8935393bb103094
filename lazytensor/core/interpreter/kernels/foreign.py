"""Reference of a foreign operation: its own `run`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ops.foreign import Foreign


def _foreign(*arrays: np.ndarray, module: Foreign) -> Any:
    made = module.run(arrays)
    return tuple(made) if len(module.results) > 1 else made[0]


ROWS: Rows = {ops.foreign: _foreign}
