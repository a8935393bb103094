"""The packages with jax's compilers for a GPU and a TPU, in the versions that jax takes.

`python -m tests.accelerators.plugins` prints them for pip. They come without what runs programs.
"""

from __future__ import annotations

from importlib.metadata import requires, version


def plugins() -> list[str]:
    """The requirements."""
    jax = version("jax")
    (tpu,) = [x.partition(";")[0] for x in requires("jax") or () if x.startswith("libtpu")]
    cuda = [f"{name}=={jax}" for name in ("jax-cuda12-plugin", "jax-cuda12-pjrt")]
    return [*cuda, "nvidia-cuda-nvcc-cu12>=12.8,<13", tpu.strip()]


if __name__ == "__main__":
    print(*plugins())
