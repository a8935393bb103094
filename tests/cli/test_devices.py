"""Unmodified scripts on eight devices: `lazytensor run --devices 8`, also in two processes."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.sweeps import one_in

Run = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = {
    "jacobi": ("--size=448", "--steps=5"),
    "kmeans": ("--height=128", "--width=512", "--iterations=5"),
    "monte_carlo": ("--paths=40000", "--days=30"),
    "heat3d": ("--size=56", "--steps=5"),
    "black_scholes": ("--size=400", "--rounds=2"),
}
REGRESSION = """
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 4))
    y = X @ np.array([1.0, 2.0, 3.0, 4.0])
    w = np.zeros(4)
    for _ in range(20):
        w = w - 0.1 * 2 / len(X) * (X.T @ (X @ w - y))
    np.save(__import__("sys").argv[1].removeprefix("--out="), w)
    """


@one_in(2)
@pytest.mark.parametrize("name", [*SCRIPTS, "regression"])
def test_results_are_those_of_one_device(
    name: str, project: Callable[[dict[str, str]], Path], lazytensor: Run, tmp_path: Path
) -> None:
    folder = project({"script.py": REGRESSION})
    if name in SCRIPTS:
        (folder / "script.py").write_text((EXAMPLES / f"{name}.py").read_text())
    arguments, found = SCRIPTS.get(name, ()), []
    for devices, processes in ((1, 1), (8, 1), (8, 2)):
        out = tmp_path / f"{devices}.{processes}.npy"
        options = (f"--devices={devices}", f"--processes={processes}")
        given = (*options, "script.py", *arguments, f"--out={out}")
        # Several processes compile everything: NumPy's functions are rounded another way.
        done = lazytensor("run", *given, cwd=folder, LAZYTENSOR_TIER="compile")
        assert done.returncode == 0, done.stderr
        found.append(np.load(out))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-9, atol=1e-12)


def test_devices_are_divided_among_processes(lazytensor: Run, tmp_path: Path) -> None:
    done = lazytensor("run", "--devices=3", "--processes=2", "script.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "3 devices cannot be divided among 2 processes: give a multiple" in done.stderr
    options = ("--devices=4", "--processes=2", "--compare")
    done = lazytensor("run", *options, "script.py", cwd=tmp_path)
    assert "--processes goes with --devices and -m only" in done.stderr


def test_large_arrays_are_split(project: Callable[[dict[str, str]], Path], lazytensor: Run) -> None:
    folder = project(
        {
            "script.py": """
            import numpy as np
            from lazytensor.sharding import sharding_of

            large, small = np.zeros((1024, 256)), np.zeros((128, 256))
            odd = np.ones((1025, 256)) + 0.0
            print(sharding_of(large + 1.0), sharding_of(small + 1.0), sharding_of(odd), sep="\\n")
            """
        }
    )
    done = lazytensor("run", "--devices", "8", "script.py", cwd=folder)
    assert done.stdout.splitlines() == [
        "Sharding(Mesh(devices=8): devices, -)",
        "Sharding(Mesh(devices=8): -, -)",  # of the same program: whole on every device
        "Sharding(Mesh(devices=8): -, devices)",
    ]
