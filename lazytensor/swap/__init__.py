"""Runs a user's code with one package replaced by another, for that code alone."""

from lazytensor.swap.imports import swap
from lazytensor.swap.script import Missing, Script, locate, report, standard_input

__all__ = ["Missing", "Script", "locate", "report", "standard_input", "swap"]
