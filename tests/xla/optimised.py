"""What XLA makes of a graph."""

from collections.abc import Sequence

from lazytensor.backends.xla import client
from lazytensor.backends.xla import stablehlo as text_of
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import cut


def program_text(outputs: Sequence[Node]) -> str:
    """The module that is given to XLA."""
    return text_of(cut(reachable(outputs), outputs).program)


def optimised(outputs: Sequence[Node]) -> str:
    """The module that XLA runs."""
    (module,) = client.compile(program_text(outputs))._loaded.hlo_modules()
    text: str = module.to_string()
    return text
