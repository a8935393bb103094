"""The command line: `lazytensor run · demo · cache · doctor`."""

from lazytensor.cli.entry import main

__all__ = ["main"]
