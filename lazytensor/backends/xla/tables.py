"""The modules that fill the table of lowerings."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "elementwise",
    "bits",
    "special",
    "angle",
    "arc",
    "exponential",
    "division",
    "hyperbolic",
    "power",
    "root",
    "complexes",  # on top of those above
    "movement",
    "update",
    "reduction",
    "chosen",
    "cumulative",
    "window",
    "indexing",
    "sorting",
    "contraction",
    "convolution",
    "linalg",
    "random",
    "spectral",
    "foreign",
    "control",
)


def load() -> None:
    """Import them."""
    for name in MODULES:
        import_module(f"lazytensor.backends.xla.{name}")
