"""What the page says of targets and operations is what the code says."""

from __future__ import annotations

from benchmarks.targets import PAGE, page
from lazytensor.artifacts.targets import TARGETS
from lazytensor.artifacts.targets.lacking import STABLEHLO
from lazytensor.artifacts.targets.onnx import convert
from lazytensor.backends.xla.portable import operations
from lazytensor.cli.export import NAMES
from tests.artifacts.programs import PROGRAMS

OPEN = frozenset(
    f"dynamic_{name}" for name in ("broadcast_in_dim", "gather", "iota", "pad", "reshape")
) | {"get_dimension_size", "real_dynamic_slice"}
"""Operations of programs with a size that is left open."""


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`python -m benchmarks.targets` makes it"


def test_the_command_has_all_targets() -> None:
    assert tuple(TARGETS) == NAMES


def test_all_operations_of_open_programs_are_in_the_table() -> None:
    """Those of others are looked at where they are written as ONNX (`test_onnx.py`)."""
    found = set()
    for example in PROGRAMS.values():
        module = operations.read(example.exported(is_open=True).program)
        found |= {op.name for op in module.operations()}
    assert found <= STABLEHLO
    assert len(found & OPEN) >= 5
    assert convert.rows.keys() <= STABLEHLO
