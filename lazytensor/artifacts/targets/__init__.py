"""What programs are written for: one row per target.

An operation that a target lacks is refused before anything is written, with the user's line and the
targets that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lazytensor.artifacts.files import replace
from lazytensor.artifacts.targets.lacking import (
    EXPANDED,
    LACKING_IN_IREE,
    LACKING_IN_TFLITE,
    STABLEHLO,
)
from lazytensor.core.errors import Unsupported

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

Write = Callable[..., None]
"""`write(artifact, path)`, and options of the target's own."""


class Target(NamedTuple):
    """A format. put: writes a new file or folder.

    suffix: what files' names end with; empty for a folder. extra: what pip installs for it. lacks:
    what it does not have of StableHLO: operations, or `operation:dtype`. is_open: whether it has
    sizes that are known at run time only. runs: what runs it.
    """

    put: Write
    suffix: str
    extra: str
    lacks: Callable[[], frozenset[str]]
    is_open: bool
    runs: str


def _stablehlo(artifact: Artifact, path: Path) -> None:
    from lazytensor.artifacts import archive

    path.write_bytes(archive.packed(artifact.contents))


def _jax(artifact: Artifact, path: Path) -> None:
    from lazytensor.backends.xla.portable import jax_export, weights

    data = weights.inlined(artifact.program, list(artifact.weights.values()))
    made = jax_export.exported(artifact.name, data, artifact.inputs, artifact.outputs, every=True)
    path.write_bytes(made.serialize())


def _savedmodel(artifact: Artifact, path: Path) -> None:
    from lazytensor.artifacts.targets import apart

    apart.convert([(artifact, "savedmodel", path)])


def _tflite(artifact: Artifact, path: Path) -> None:
    from lazytensor.artifacts.targets import apart

    apart.convert([(artifact, "tflite", path)])


def _onnx(artifact: Artifact, path: Path) -> None:
    from lazytensor.artifacts.targets import onnx

    try:
        path.write_bytes(onnx.model(artifact).SerializeToString())
    except onnx.Refused as refused:
        raise Unsupported(refusal("onnx", str(refused), refused.place)) from refused


def _iree(artifact: Artifact, path: Path, backend: str = "llvm-cpu") -> None:
    from lazytensor.artifacts.targets import iree

    path.write_bytes(iree.compiled(artifact, backend))


def _web(artifact: Artifact, path: Path, runtime: str = "") -> None:
    from lazytensor.artifacts.targets import web

    try:
        web.write(artifact, path, runtime)
    except web.Refused as refused:
        raise Unsupported(refusal("web", str(refused), refused.place)) from refused


def _of_onnx() -> frozenset[str]:
    from lazytensor.artifacts.targets.onnx import convert

    return STABLEHLO - EXPANDED - convert.rows.keys()


TARGETS: Final[dict[str, Target]] = {
    "stablehlo": Target(
        _stablehlo, ".zip", "export", frozenset, True, "`lazytensor.load`; all that reads StableHLO"
    ),
    "jax": Target(_jax, ".jax", "export", frozenset, True, "`jax.export.deserialize`"),
    "savedmodel": Target(
        _savedmodel, "", "tf", frozenset, True, "`tf.saved_model.load`, TensorFlow Serving"
    ),
    "tflite": Target(
        _tflite, ".tflite", "tf", lambda: LACKING_IN_TFLITE, True, "LiteRT, LiteRT.js"
    ),
    "onnx": Target(_onnx, ".onnx", "onnx", _of_onnx, True, "onnxruntime"),
    "iree": Target(_iree, ".vmfb", "iree", lambda: LACKING_IN_IREE, False, "IREE"),
    "web": Target(_web, "", "onnx", _of_onnx, True, "a browser"),
}


def write(artifact: Artifact, target: str, path: Path, **options: Any) -> Path:
    """Write an artifact for a target; see `Artifact.to`."""
    row = TARGETS.get(target)
    if row is None:
        raise ValueError(f"a target was expected, one of {', '.join(TARGETS)}; got {target!r}")
    takes = [*signature(row.put).parameters][2:]
    for option in options:
        if option not in takes:
            raise ValueError(f"{target} takes no option {option}; it takes {takes or 'none'}")
    try:
        check(artifact, target, row)
        replace(path, lambda new: row.put(artifact, new, **options))
    except ModuleNotFoundError as error:
        text = f"{target} needs {error.name}: pip install 'lazytensor[{row.extra}]'"
        raise ImportError(text) from error
    return path


def check(artifact: Artifact, name: str, target: Target) -> None:
    """Raises: Unsupported for what a target lacks, with the user's line and those that have it."""
    if artifact.signature.symbol and not target.is_open:
        others = ", ".join(k for k, row in TARGETS.items() if row.is_open)
        size = artifact.signature.symbol
        text = f"{name}: it has no sizes that are known at run time only, as {size!r} is"
        raise Unsupported(f"{text}: export with a fixed size, or for {others}")
    from lazytensor.backends.xla.portable import operations

    lacking, module = target.lacks(), operations.read(artifact.program)
    for op in module.operations():
        values = op.operands[:1] or op.results
        dtype = module.types[values[0]].dtype.name if values else ""
        for what in (op.name, f"{op.name}:{dtype}"):
            if what in lacking:
                raise Unsupported(refusal(name, what.replace(":", " of "), op.place))


def refusal(target: str, what: str, place: str) -> str:
    """What is said where a target lacks an operation, or a form of one."""
    where = f" (recorded at {place})" if place else ""
    return f"{target} lacks {what}{where}; {', '.join(_having(target, what))} have it"


def _having(target: str, what: str) -> Iterator[str]:
    """The other targets that have an operation; of a form of one, those that lack nothing."""
    names = {what, what.replace(" of ", ":")}
    is_operation = what.split(" of ")[0] in STABLEHLO
    for name, row in TARGETS.items():
        with suppress(ImportError):
            lacking = row.lacks()
            is_other = row.lacks is not TARGETS[target].lacks
            if is_other and not (lacking & names if is_operation else lacking):
                yield name
