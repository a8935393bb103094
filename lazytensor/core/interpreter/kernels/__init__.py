"""NumPy references of the ops: what each one means."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "elementwise",
    "bits",
    "special",
    "movement",
    "reduction",
    "indexing",
    "sorting",
    "contraction",
    "linalg",
    "random",
    "spectral",
    "foreign",
    "control",
)


def load() -> None:
    """Fill the table of references."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
