"""The examples, the workloads of the reuse report, and a step of each model compile for targets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from lazytensor.reuse.workloads import WORKLOADS

ROOT: Final = Path(__file__).parents[2]
SECONDS: Final = 20.0
SLOWER: Final = {("v5e", "tf", "resnet"): 90.0}
"""A step of ResNet-18 with products of f32 in f32 is 12,600 kernels on a v5e."""
SCRIPTS: Final = {
    "black_scholes": ("--size=400", "--rounds=2"),
    "gray_scott": ("--size=64", "--steps=4"),
    "heat3d": ("--size=24", "--steps=4"),
    "jacobi": ("--size=64", "--steps=4"),
    "kmeans": ("--height=64", "--width=64", "--iterations=3"),
    "mandelbrot": ("--width=64", "--height=48", "--iterations=20"),
    "monte_carlo": ("--paths=1000", "--days=10"),
    "nbody": ("--bodies=64", "--steps=3"),
    "shallow_water": ("--columns=32", "--rows=24", "--steps=4"),
}
TORCH: Final = ("bert", "gpt2", "llama", "t5", "vit", "resnet", "whisper", "mamba", "mixtral")
KERAS: Final = ("cnn", "resnet", "mobilenet", "transformer", "lstm", "bidirectional", "unet")
CASES: Final = (
    *(("script", str(ROOT / "examples" / f"{name}.py"), *given) for name, given in SCRIPTS.items()),
    *(("reuse", frontend, x.name) for frontend in ("numpy", "torch", "tf") for x in WORKLOADS),
    *(("torch", name) for name in (*TORCH, "wav2vec2", "llava")),
    *(("tf", name) for name in KERAS),
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case[:3]).removeprefix(str(ROOT)))
def test_programs_compile(case: tuple[str, ...], target: str) -> None:
    command = [sys.executable, "-m", "tests.accelerators.compiling", target, *case]
    environment = os.environ | {"LAZYTENSOR_PLATFORM": "cpu", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"size"')]
    assert found
    bound = SLOWER.get((target, *case[:2]), SECONDS)
    assert all(x["seconds"] <= bound for x in found if "seconds" in x)
    refused = [x["refused"] for x in found if "refused" in x]
    assert not refused or target == "v5e"
