"""A folder with one page that runs the program in a browser, from a server or from the disk.

The model is ONNX; the runtime is the npm package onnxruntime-web. Both are embedded in scripts, as
a browser reads no other files of a page that is opened from the disk. The page asks no network.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from lazytensor.artifacts.files import replace
from lazytensor.artifacts.targets import onnx
from lazytensor.artifacts.targets.onnx import Refused
from lazytensor.core.errors import Unsupported
from lazytensor.core.runtime import disk_cache

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

PACKAGE: Final = "onnxruntime-web"
VERSION: Final = "1.30.0"
LOADER: Final = "ort-wasm-simd-threaded.mjs"
BINARY: Final = "ort-wasm-simd-threaded.wasm"
SCRIPT: Final = "ort.wasm.min.js"
DTYPES: Final = frozenset([
    "bool", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64",
])  # fmt: skip
"""Dtypes of inputs and outputs that the page reads and shows."""
NPM_SECONDS: Final = 300

__all__ = ["Refused", "write"]


def write(artifact: Artifact, folder: Path, runtime: str = "") -> None:
    """Write the page. runtime: a folder with the package; downloaded by npm, once, if empty.

    Raises: Unsupported for a dtype that the page cannot show, or an operation that ONNX lacks;
    RuntimeError where npm is missing or fails.
    """
    for port in (*artifact.inputs, *artifact.outputs):
        if port.dtype.name not in DTYPES:
            raise Unsupported(f"web: {port}: the page shows {', '.join(sorted(DTYPES))}")
    model = onnx.model(artifact).SerializeToString()
    dist = (Path(runtime) if runtime else _package()) / "dist"
    folder.mkdir(parents=True)
    page = files(__package__)
    for name in ("index.html", "page.js", "page.css"):
        (folder / name).write_text((page / name).read_text())
    shutil.copy(dist / SCRIPT, folder / SCRIPT)
    said = {
        "name": artifact.name,
        "symbol": artifact.signature.symbol,
        "inputs": [[port.name, port.dtype.name, list(port.shape)] for port in artifact.inputs],
        "outputs": [[port.name, port.dtype.name] for port in artifact.outputs],
    }
    runtime_of = {
        "loader": (dist / LOADER).read_text(),
        "binary": _text((dist / BINARY).read_bytes()),
    }
    _script(folder / "runtime.js", "RUNTIME", runtime_of)
    _script(folder / "model.js", "MODEL", {**said, "onnx": _text(model)})


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _script(path: Path, name: str, value: object) -> None:
    """A script that sets a global to a value."""
    said = json.dumps(value).replace("</", "<\\/")
    path.write_text(f"globalThis.{name} = {said};\n")


def _package() -> Path:
    """The package's folder, in the cache."""
    place = disk_cache.folder() / f"{PACKAGE}-{VERSION}"
    if not (place / "dist" / BINARY).exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        replace(place, _fetched)
    return place


def _fetched(place: Path) -> None:
    """Download the package by npm, which checks its digest, and unpack what the page needs."""
    npm = shutil.which("npm")
    if npm is None:
        text = "web: npm downloads the browser's runtime once; install Node.js, or give `runtime`"
        raise RuntimeError(f"{text}, a folder with the npm package {PACKAGE}")
    with TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"{PACKAGE}@{VERSION}"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=NPM_SECONDS, check=False
        )
        if done.returncode:
            raise RuntimeError(f"web: {' '.join(command[1:])} failed: {done.stderr.strip()[-400:]}")
        archive = next(Path(folder).glob("*.tgz"))
        with tarfile.open(archive) as tar:
            wanted: Callable[[str], bool] = {
                f"package/dist/{name}" for name in (LOADER, BINARY, SCRIPT)
            }.__contains__
            members = [member for member in tar.getmembers() if wanted(member.name)]
            tar.extractall(folder, members, filter="data")
        shutil.move(Path(folder) / "package", place)
