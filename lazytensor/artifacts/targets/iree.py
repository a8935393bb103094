"""IREE: a module for its virtual machine, compiled by its own compiler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from iree.compiler import CompilerToolError
from iree.compiler.tools import compile_str

from lazytensor.core.errors import Unsupported

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

BACKENDS: Final = ("llvm-cpu", "vmvx")
"""For what IREE compiles: this machine's processor, or its interpreter, which runs anywhere."""


def compiled(artifact: Artifact, backend: str = "llvm-cpu") -> bytes:
    """The program as an IREE module whose function is `main`. Raises: ValueError, Unsupported."""
    from lazytensor.backends.xla.portable import modules, weights
    from lazytensor.backends.xla.portable.expanded import expanded

    if backend not in BACKENDS:
        raise ValueError(f"iree: backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    data = weights.inlined(expanded(artifact.program), list(artifact.weights.values()))
    flags = ["--iree-input-demote-f64-to-f32=false", "--iree-input-demote-i64-to-i32=false"]
    if backend == "llvm-cpu":
        flags.append("--iree-llvmcpu-target-cpu=generic")
    try:
        found: bytes = compile_str(
            modules.text(data).encode(),
            target_backends=[backend],
            input_type="stablehlo",
            extra_args=flags,
        )
    except CompilerToolError as error:
        said = re.findall(r"error: (.*)", str(error))
        raise Unsupported(
            f"iree: its compiler refuses the program: {'; '.join(said[:2])}"
        ) from error
    return found
