"""Exported programs: a call against `jax.jit` of the same program, and the time until the first.

`OMP_WAIT_POLICY=passive python -m benchmarks.artifacts` prints both, on an idle machine.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

ROUNDS: Final = 40
SECONDS: Final = 0.02
"""About how long one sample lasts."""
STARTS: Final = 9

FIRST: Final = """
import time
start = time.perf_counter()
import sys
import numpy as np
kept = np.load(sys.argv[1])
if sys.argv[2] == "jax":
    import jax
else:
    import lazytensor
    artifact = lazytensor.load(sys.argv[2])
    artifact(kept["x"])
    assert lazytensor.metrics.snapshot()["compiles"] == int(sys.argv[3])
print(time.perf_counter() - start)
"""


def models() -> dict[str, tuple[Any, np.ndarray]]:
    """Torch modules and their inputs."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
    transformer = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    wide = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    small = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))
    convolutions = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 14 * 14, 10),
    )  # fmt: skip
    shapes = {
        "MLP 16-16-4, batch 1": (small, (1, 16)),
        "MLP 784-512-512-10, batch 64": (wide, (64, 784)),
        "CNN, 8 images of 32 × 32": (convolutions, (8, 3, 32, 32)),
        "transformer, 4 layers of 64, 8 × 16 words": (transformer, (8, 16, 64)),
    }
    return {
        name: (module.eval(), rng.standard_normal(shape).astype(np.float32))
        for name, (module, shape) in shapes.items()
    }


def seconds_of(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def compared(artifact: Any, x: np.ndarray) -> tuple[float, float]:
    """Median seconds of a call here, and by `jax.jit`, each from NumPy to NumPy."""
    import jax

    weights = [jax.device_put(w) for w in artifact.weights.values()]
    from lazytensor.backends.xla.portable import jax_export

    ports = [*artifact.inputs, *artifact.signature.weights]
    exported = jax_export.exported("peer", artifact.program, ports, artifact.outputs)
    jitted = jax.jit(exported.call)

    def peer() -> Any:
        return [np.asarray(y) for y in jitted(x, *weights)]

    ours = artifact(x)
    assert np.allclose(ours, peer()[0], rtol=1e-5, atol=1e-5)
    count = max(1, int(SECONDS / seconds_of(peer, 3)))
    pairs = [
        (seconds_of(lambda: artifact(x), count), seconds_of(peer, count)) for _ in range(ROUNDS)
    ]
    here, there = map(statistics.median, zip(*pairs, strict=True))
    return here, there


def first(folder: Path, artifact: Any, x: np.ndarray) -> tuple[float, float]:
    """Median seconds from an interpreter to a result with the executable on disk, and to jax."""
    path = artifact.save(folder / "artifact.zip")
    np.savez(folder / "x.npz", x=x)
    variables = os.environ | {"LAZYTENSOR_CACHE_DIR": str(folder / "cache")}

    def started(*words: str) -> float:
        command = [sys.executable, "-c", FIRST, str(folder / "x.npz"), *words]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        return float(done.stdout)

    started(str(path), "1")
    pairs = [(started(str(path), "0"), started("jax")) for _ in range(STARTS)]
    here, there = map(statistics.median, zip(*pairs, strict=True))
    return here, there


def main() -> None:
    import lazytensor
    import lazytensor.torch

    print("| program | a call | `jax.jit` | ratio | first result, disk warm | `import jax` |")
    print("|---|---|---|---|---|---|")
    import torch

    for name, (module, x) in models().items():
        artifact = lazytensor.export(module, torch.tensor(x), name="program")
        with TemporaryDirectory() as folder:
            start, imported = first(Path(folder), artifact, x)
        here, there = compared(artifact, x)
        print(
            f"| {name} | {here * 1e6:.0f} µs | {there * 1e6:.0f} µs | {here / there:.2f} "
            f"| {start:.3f} s | {imported:.3f} s |"
        )


if __name__ == "__main__":
    main()
