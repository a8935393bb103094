"""The array API standard's own tests, from a checkout, for lazy NumPy and for the namespace.

    git clone --recursive https://github.com/data-apis/array-api-tests
    ARRAY_API_TESTS=array-api-tests make array-api

They run in a process of their own, in their own folder, with their own settings: an unlisted test
that fails and a listed one that passes both fail here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CHECKOUT = os.environ.get("ARRAY_API_TESTS", "")
EXAMPLES = os.environ.get("ARRAY_API_EXAMPLES", "5")
MOST = 15


MODULES = ("numpy", "array_api")


def exceptions(module: str) -> list[tuple[str, str]]:
    """Ids of tests that may fail with a module, each with the reason."""
    table = tomllib.loads((HERE / "exceptions.toml").read_text())["exception"]
    own = [row for row in table if module in row.get("modules", MODULES)]
    return [(name, " ".join(row["reason"].split())) for row in own for name in row["ids"]]


@pytest.mark.parametrize("module", MODULES)
def test_exceptions_are_few_and_reasoned(module: str) -> None:
    names = [name for name, _ in exceptions(module)]
    assert len(names) == len(set(names)) <= MOST
    assert all(name.startswith("array_api_tests/") for name in names)
    assert all(len(reason) > 40 for _, reason in exceptions(module))


@pytest.mark.skipif(not CHECKOUT, reason="ARRAY_API_TESTS names no checkout of the suite")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tier", ["auto", "compile"])
@pytest.mark.parametrize("module", MODULES)
def test_suite(module: str, tier: str, tmp_path: Path) -> None:
    listed = tmp_path / "xfails.txt"
    listed.write_text("".join(f"# {reason}\n{name}\n" for name, reason in exceptions(module)))
    options = [f"--max-examples={EXAMPLES}", "--disable-deadline", f"--xfails-file={listed}"]
    strict = ["-o", "xfail_strict=true", "-p", "no:cacheprovider"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    own = {
        "ARRAY_API_TESTS_MODULE": f"lazytensor.{module}",
        "LAZYTENSOR_TIER": tier,
        "PYTHONPATH": path,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", *strict, *options, "array_api_tests"],
        cwd=CHECKOUT,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    assert f"{len(exceptions(module))} xfailed" in done.stdout, done.stdout[-2_000:]
