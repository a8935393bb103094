"""The entry point: `import torch` alone gives the device, in any order of imports, without jax."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import torch

from tests.core.processes import run

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PROGRAM = """
    import sys
    {imports}
    import torch
    x = torch.arange(3.0, device="lazytensor")
    print((x + 1).sum().item(), torch.lazytensor.is_available())
    print([name for name in ("jax", "jaxlib", "tensorflow") if name in sys.modules])
"""


OURS_ALONE = pytest.mark.skipif(
    bool(torch.version.cuda or torch.version.hip), reason="a torch that has another accelerator"
)


@pytest.mark.parametrize(
    "imports",
    [
        pytest.param("", marks=OURS_ALONE),
        pytest.param("import lazytensor", marks=OURS_ALONE),
        "import lazytensor.torch",
    ],
)
def test_importing_torch_is_enough(
    imports: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["torch.backends"]
    metadata = tmp_path / "entry_of_lazytensor-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: entry-of-lazytensor\n")
    lines = [f"{name} = {target}" for name, target in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[torch.backends]", *lines]))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{PROJECT.parent}")
    assert run(PROGRAM.format(imports=imports)).stdout.splitlines() == ["6.0 True", "[]"]
