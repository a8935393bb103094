"""The modules that fill the table of lowerings."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "elementwise.arithmetic",
    "elementwise.bits",
    "elementwise.special",
    "elementwise.angle",
    "elementwise.arc",
    "elementwise.exponential",
    "elementwise.division",
    "elementwise.hyperbolic",
    "elementwise.power",
    "elementwise.root",
    "elementwise.complexes",  # on top of those above
    "lowerings.movement",
    "lowerings.update",
    "lowerings.reduction",
    "lowerings.chosen",
    "lowerings.cumulative",
    "lowerings.window",
    "lowerings.indexing",
    "lowerings.sorting",
    "lowerings.contraction",
    "convolution.forms",
    "lowerings.linalg",
    "lowerings.random",
    "lowerings.spectral",
    "lowerings.foreign",
    "lowerings.control",
)


def load() -> None:
    """Import them."""
    for name in MODULES:
        import_module(f"lazytensor.backends.xla.{name}")
