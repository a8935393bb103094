"""The command line: `lazytensor run · explain · doctor · demo · cache · reuse · build`."""

from lazytensor.cli.entry import main

__all__ = ["main"]
