"""What `import torch` calls where this package is installed: torch's entry point for backends."""

from __future__ import annotations

from importlib import import_module


def autoload() -> None:
    """Register the device `lazytensor` with a torch that was built for CPUs.

    Torch takes a registered backend for *the* accelerator. A build for another one keeps that,
    until somebody imports `lazytensor.torch`.
    """
    version = import_module("torch").version
    if not any(getattr(version, name, None) for name in ("cuda", "hip", "xpu")):
        import_module("lazytensor.torch")
