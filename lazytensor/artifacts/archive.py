"""Artifacts as files: a zip of a description, a program and its weights.

| member | contents |
|---|---|
| `artifact.json` | format, name, signature, versions, the digest of each other file |
| `program.stablehlo` | portable StableHLO |
| `weights.safetensors` | the weights, or they lie in a file beside the zip |

Nothing is compressed, so that no member is larger than the file. Nothing is unpacked to disk, so
that no name matters. What is read is checked before it is used; nothing is executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.artifacts import trees
from lazytensor.artifacts.files import replace
from lazytensor.artifacts.signature import Port, Signature
from lazytensor.core.errors import LazyTensorError
from lazytensor.core.ir.dtypes import STORED

FORMAT: Final = "lazytensor artifact 1"
DESCRIPTION: Final = "artifact.json"
PROGRAM: Final = "program.stablehlo"
WEIGHTS: Final = "weights.safetensors"
KINDS_KEPT: Final = "fiub"
"""Kinds of NumPy's dtypes that the weights' file has; others are in it as bytes."""
DESCRIPTION_BYTES_BOUND: Final = 2**26
"""How long the description may be."""


_DTYPES: Final = {dtype.name: dtype for dtype in STORED}


class BadArtifact(LazyTensorError, ValueError):
    """A file that is no artifact, or a damaged one."""


class Contents(NamedTuple):
    """All that an artifact has."""

    name: str
    signature: Signature
    program: bytes
    weights: Mapping[str, np.ndarray]
    versions: Mapping[str, str]


def write(path: Path, contents: Contents, beside: bool = False) -> None:
    """Write an artifact. The file is there when all of it is. beside: weights in an own file."""
    name = path.with_suffix(".safetensors").name if beside else ""
    weights = _packed(contents.weights)
    if beside:
        replace(path.with_name(name), lambda new: new.write_bytes(weights))
    replace(path, lambda new: new.write_bytes(_zipped(contents, weights, name)))


def packed(contents: Contents) -> bytes:
    """An artifact as bytes, its weights inside."""
    return _zipped(contents, _packed(contents.weights), "")


def _zipped(contents: Contents, weights: bytes, beside: str) -> bytes:
    """The zip. beside: the name of the file that has the weights, if the zip has not."""
    files = {PROGRAM: contents.program, WEIGHTS: weights}
    description = {
        "format": FORMAT,
        "name": contents.name,
        "versions": dict(contents.versions),
        "signature": _signature_as_json(contents.signature),
        "weights": beside,
        "sha256": {k: hashlib.sha256(data).hexdigest() for k, data in files.items()},
    }
    if beside:
        del files[WEIGHTS]
    out = io.BytesIO()
    said = json.dumps(description, indent=1).encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for member, data in {DESCRIPTION: said, **files}.items():
            # Always the same date, so that equal artifacts are equal files.
            archive.writestr(zipfile.ZipInfo(member), data)
    return out.getvalue()


def read(path: Path) -> Contents:
    """Read an artifact. Raises: OSError; BadArtifact, which says what is wrong."""
    try:
        return _read(path)
    except BadArtifact as error:
        raise BadArtifact(f"{path}: {error}") from error.__cause__


def _read(path: Path) -> Contents:
    files = _members(path)
    said = _description(files.pop(DESCRIPTION, b""))
    if said["weights"]:
        files[WEIGHTS] = _beside(path, said["weights"])
    for name in (PROGRAM, WEIGHTS):
        if name not in files:
            raise BadArtifact(f"it has no {name}")
        if hashlib.sha256(files[name]).hexdigest() != said["sha256"].get(name):
            raise BadArtifact(f"{name} is not what {DESCRIPTION} says: it was damaged or replaced")
    signature = _signature_of(said["signature"])
    weights = _unpacked(files[WEIGHTS], signature.weights)
    return Contents(said["name"], signature, files[PROGRAM], weights, said["versions"])


def _members(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos, size = archive.infolist(), path.stat().st_size
            names = [info.filename for info in infos]
            if len(set(names)) != len(names) or not set(names) <= {DESCRIPTION, PROGRAM, WEIGHTS}:
                raise BadArtifact(f"it has other members than an artifact: {names!r:.200}")
            for info in infos:
                if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
                    raise BadArtifact(
                        f"{info.filename} is compressed, as no artifact's members are"
                    )
            return {name: archive.read(name) for name in names}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadArtifact(f"it is no whole zip file: {error}") from error


def _description(data: bytes) -> dict[str, Any]:
    try:
        if len(data) > DESCRIPTION_BYTES_BOUND:
            raise ValueError(f"{len(data)} bytes")
        found = json.loads(data)
        if found["format"] != FORMAT:
            raise ValueError(f"{FORMAT!r} was expected, got {found['format']!r:.80}")
        kinds = {"name": str, "weights": str, "signature": dict, "versions": dict, "sha256": dict}
        for key, kind in kinds.items():
            if not isinstance(found[key], kind):
                raise ValueError(f"{key} is a {type(found[key]).__name__}")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        text = f"{DESCRIPTION} says no artifact of this version: {error!r:.200}"
        raise BadArtifact(text) from error
    return dict(found)


def _beside(path: Path, name: str) -> bytes:
    if Path(name).name != name or name in ("", ".", "..") or "\\" in name or "\0" in name:
        raise BadArtifact(f"the weights' file must lie beside it, got {name!r:.80}")
    try:
        return path.with_name(name).read_bytes()
    except OSError as error:
        text = f"its weights are in {name}, which cannot be read: {error.strerror}"
        raise BadArtifact(text) from error


def _packed(weights: Mapping[str, np.ndarray]) -> bytes:
    """The weights in safetensors' format; the signature has their dtypes and shapes."""
    if not weights:
        return b""
    made: bytes = _safetensors().save({name: _plain(x) for name, x in weights.items()})
    return made


def _plain(x: np.ndarray) -> np.ndarray:
    """The array itself, or its bytes if it is of a dtype that the format lacks."""
    if x.dtype.isbuiltin == 1 and x.dtype.kind in KINDS_KEPT:
        return x
    return np.frombuffer(x.tobytes(), np.uint8)


def _unpacked(data: bytes, ports: tuple[Port, ...]) -> dict[str, np.ndarray]:
    try:
        found = _safetensors().load(data) if data else {}
    except Exception as error:
        raise BadArtifact(f"{WEIGHTS} is damaged: {error!r:.200}") from error
    if found.keys() != {port.name for port in ports}:
        raise BadArtifact(f"{WEIGHTS} has {sorted(found)!r:.200}, not the weights of the program")
    weights = {}
    for port in ports:
        x, type = found[port.name], port.sized({})
        if x.nbytes != type.nbytes:
            raise BadArtifact(f"{WEIGHTS}: {port} was expected, got {x.dtype.name}{x.shape}")
        weights[port.name] = x = x.reshape(-1).view(type.dtype).reshape(type.shape)
        x.flags.writeable = False
    return weights


def _safetensors() -> Any:
    try:
        from safetensors import numpy
    except ImportError:
        text = "safetensors writes and reads weights: pip install 'lazytensor[export]'"
        raise ImportError(text) from None
    return numpy


def _signature_as_json(signature: Signature) -> dict[str, Any]:
    said = signature._asdict()
    for key in ("inputs", "outputs", "weights"):
        said[key] = [[port.name, port.dtype.name, list(port.shape)] for port in said[key]]
    return said


def _signature_of(said: Mapping[str, Any]) -> Signature:
    """The signature that a description has. Raises: BadArtifact."""
    try:
        ports = {k: tuple(map(_port, said[k])) for k in ("inputs", "outputs", "weights")}
        arguments, symbol = said["arguments"], said["symbol"]
        if not isinstance(arguments, dict) or not isinstance(symbol, str):
            raise ValueError("the arguments have no names")
        counts = sum(map(trees.count, arguments.values())), trees.count(said["results"])
        if counts != (len(ports["inputs"]), len(ports["outputs"])):
            raise ValueError(f"arguments and results have {counts} arrays")
        names = {n for port in ports["inputs"] for n in port.shape if isinstance(n, str)}
        if names != ({symbol} if symbol else set()):
            raise ValueError(f"sizes have the names {names}")
        for port in (*ports["outputs"], *ports["weights"]):
            port.sized({symbol: 2} if port in ports["outputs"] else {})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        text = f"{DESCRIPTION}: the signature is not one: {error!r:.200}"
        raise BadArtifact(text) from error
    return Signature(**ports, arguments=arguments, results=said["results"], symbol=symbol)


def _port(said: Any) -> Port:
    name, dtype, shape = said
    sizes = all(
        isinstance(n, str) or (isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**48)
        for n in shape
    )
    if not isinstance(name, str) or not isinstance(dtype, str) or not sizes:
        raise ValueError(f"{said!r:.80} is no name, dtype and shape")
    return Port(name, _DTYPES[dtype], tuple(shape))
