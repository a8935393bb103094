"""Programs as users see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazytensor.core.device.backend import Compiled, backend
from lazytensor.core.ir import program
from lazytensor.inspection.exchanges import Exchange, exchanges

if TYPE_CHECKING:
    import os
    from pathlib import Path


class Program(program.Program):
    """A cut graph: printable, comparable, shown as a page or as StableHLO."""

    @classmethod
    def of(cls, plain: program.Program) -> Program:
        """The same program, with all its attributes."""
        made = cls.__new__(cls)
        vars(made).update(vars(plain))
        return made

    def stablehlo(self) -> str:
        """The StableHLO that the XLA backend emits for this program, with every slot as data."""
        return backend().stablehlo(self)

    def collectives(self) -> list[Exchange]:
        """What XLA exchanges between devices to run this program, which must have run on a mesh."""
        return exchanges(self)

    def compiled_for(self, target: str) -> Compiled:
        """Compile for a device that need not be here, and read what XLA says: kernels, bytes, text.

        target: "h100", "h200" or "v5e". Raises: ValueError for another one, ImportError where its
        compiler is not installed, Unsupported for what the target lacks.
        """
        return backend().compiled_for(self, target)

    def dot(self) -> str:
        """The graph in Graphviz's language."""
        from lazytensor.inspection import graph

        return graph.dot(self)

    def show(self, path: str | os.PathLike[str] | None = None, *, browser: bool = True) -> Path:
        """Write the graph as a page of HTML, and open it; the path of the file.

        path: the file; a temporary one if None. browser: whether to open the page. It has the
        operations with their types and your lines, groups by composite, module, function or line,
        and a search.
        """
        from lazytensor.inspection import graph

        return graph.show(self, path, browser)

    def _repr_html_(self) -> str:
        from lazytensor.inspection import graph

        return graph.frame(self)
