"""Allowed imports: no framework in core, no frontend in another, jax in one place only."""

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lazytensor
from tests.core.processes import run

PACKAGE = Path(lazytensor.__file__).parent
FRONTENDS = sorted(path.parent.name for path in (PACKAGE / "frontends").glob("*/__init__.py"))
FRAMEWORKS = {"jax", "jaxlib", "torch", "tensorflow", "keras", "scipy"}


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere in it, as absolute names."""
    package = path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


LAYERS = (
    ("binaries", "errors", "settings"),
    ("ir",),
    ("device", "buffers"),
    ("ops",),
    ("lib",),
    ("interpreter", "passes"),
    ("observe",),
    ("runtime",),
    ("trace",),
)
"""The layers of the core, the lowest first. NumPy's own modules at its root are not placed yet."""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def files(folder: str) -> list[Path]:
    found = sorted((PACKAGE / folder).rglob("*.py"))
    assert found
    return found


def top(module: str) -> str:
    return module.split(".")[0]


@pytest.mark.parametrize("path", files("core"), ids=lambda path: path.stem)
def test_the_core_imports_no_framework(path: Path) -> None:
    own = {"lazytensor", *sys.stdlib_module_names}
    allowed = {"numpy", "ml_dtypes", "platformdirs", "typing_extensions"} | own
    for module in imports(path):
        assert top(module) in allowed, module
        if top(module) == "lazytensor":
            assert module == "lazytensor" or module.startswith("lazytensor.core"), module
        if top(module) == "platformdirs":
            assert path.stem == "disk_cache"
        if top(module) == "typing_extensions":  # for the type checker alone
            assert path.stem == "op"


def test_no_import_of_the_core_runs_up() -> None:
    """Neither at the top of a file, nor in a function, nor for the type checker alone."""
    found = set()
    for path in files("core"):
        module = ".".join(path.relative_to(PACKAGE / "core").with_suffix("").parts)
        module = module.removesuffix(".__init__")
        level = LEVEL.get(module.split(".")[0], len(LAYERS))
        for target in imports(path):
            if target.startswith("lazytensor.core."):
                layer = target.split(".")[2]
                if LEVEL.get(layer, 0) > level:
                    found.add((module, target))
    assert not found


def test_the_core_imports_nothing_by_a_name_of_its_own() -> None:
    """What is imported by string is given to the core, or is one of its own tables of modules."""
    for path in files("core"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.match(r"lazytensor\.\w+", node.value), (path, node.value)


@pytest.mark.parametrize("path", files("."), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_jax_is_imported_by_the_backend_only(path: Path) -> None:
    inside = PACKAGE / "backends" / "xla" in path.parents
    doctor = path == PACKAGE / "cli" / "doctor.py"  # asks for its version
    for module in imports(path):
        if top(module) in {"jax", "jaxlib"}:
            assert inside or doctor, module


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_no_frontend_imports_another(frontend: str) -> None:
    own = {"torch": {"torch"}, "tf": {"tensorflow", "keras"}}.get(frontend, set())
    others = [f"lazytensor.frontends.{name}" for name in FRONTENDS if name != frontend]
    for path in files(f"frontends/{frontend}"):
        for module in imports(path):
            assert not module.startswith(tuple(others)), (path, module)
            assert not module.startswith("lazytensor.backends"), (path, module)
            assert top(module) not in FRAMEWORKS - own, (path, module)


def test_the_core_runs_where_nothing_else_can_be_imported() -> None:
    program = """
        import sys

        class Refuse:
            def find_spec(self, name, path=None, target=None):
                allowed = {"numpy", "ml_dtypes", "lazytensor", "_distutils_hack"}
                top = name.split(".")[0]
                if top not in allowed and top not in sys.stdlib_module_names:
                    raise ImportError(f"the core asked for {name}")
                if name.startswith(("lazytensor.backends", "lazytensor.frontends")):
                    raise ImportError(f"the core asked for {name}")

        import numpy as np
        sys.meta_path.insert(0, Refuse())
        import lazytensor
        from lazytensor.core import ops
        from lazytensor.core.ir.op import leaf
        from lazytensor.core.runtime.scheduler import fetch
        print(fetch(ops.reduce_sum(ops.exp(leaf(np.zeros(3))), axes=(0,))))
        print(lazytensor.metrics.snapshot()["interpreted"], str(lazytensor.explain())[:13])
    """
    assert run(program).stdout.split() == ["3.0", "1", "1", "program", "run"]


def test_the_lazy_numpy_imports_neither_jax_nor_the_command_line() -> None:
    program = """
        import sys
        import lazytensor.numpy as np
        x = np.arange(10.0)
        x[2:] *= 2
        print(float(x.sum()))
        print([name for name in ("jax", "jaxlib", "click", "rich", "torch") if name in sys.modules])
    """
    assert run(program).stdout.splitlines() == ["89.0", "[]"]


def test_the_lazy_numpy_imports_no_slow_module_of_the_standard_library() -> None:
    program = """
        import sys
        import numpy, ml_dtypes
        before = set(sys.modules)
        import lazytensor.numpy
        slow = {"asyncio", "hashlib", "html", "inspect", "logging", "pathlib", "shutil", "socket"}
        print(sorted(slow & (set(sys.modules) - before)))
    """
    assert run(program).stdout.split() == ["[]"]


def test_importing_the_lazy_numpy_costs_little_over_numpy() -> None:
    """At most 0.15 s, in the median of nine; more on a machine on which NumPy itself takes long."""
    program = """
        from time import thread_time as now
        start = now()
        import numpy
        middle = now()
        import lazytensor.numpy
        print(middle - start, now() - middle)
    """
    runs = [map(float, run(program).stdout.split()) for _ in range(9)]
    plain, lazy = map(statistics.median, zip(*runs, strict=True))
    assert lazy <= 0.15 * max(1.0, plain / 0.1)
