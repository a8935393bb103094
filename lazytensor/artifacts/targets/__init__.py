"""What programs are written for: one row per target.

An operation that a target lacks is refused before anything is written, with the user's line and the
targets that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lazytensor.artifacts.files import replace
from lazytensor.core.errors import Unsupported

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

Bytes = Callable[..., bytes]
Fill = Callable[..., None]


class Target(NamedTuple):
    """A format. make: gives a file's bytes. fill: writes into a new folder. One of them is None.

    extra: what pip installs for it; empty if nothing more is needed. lacks: the operations of
    StableHLO that it does not have. is_open: whether it has sizes that are known at run time only.
    runs: what runs it.
    """

    make: Bytes | None
    fill: Fill | None
    suffix: str
    extra: str
    lacks: Callable[[], frozenset[str]]
    is_open: bool
    runs: str


def _stablehlo(artifact: Artifact) -> bytes:
    from lazytensor.artifacts import archive

    return archive.packed(artifact.contents)


def _jax(artifact: Artifact) -> bytes:
    from lazytensor.backends.xla.portable import jax_export, weights

    data = weights.inlined(artifact.program, list(artifact.weights.values()))
    made = jax_export.exported(artifact.name, data, artifact.inputs, artifact.outputs, every=True)
    return bytes(made.serialize())


def _savedmodel(artifact: Artifact, folder: Path) -> None:
    from lazytensor.artifacts.targets import savedmodel

    savedmodel.write(artifact, folder)


def _tflite(artifact: Artifact) -> bytes:
    from lazytensor.artifacts.targets import savedmodel

    return savedmodel.tflite(artifact)


def _onnx(artifact: Artifact) -> bytes:
    from lazytensor.artifacts.targets import onnx

    try:
        return bytes(onnx.model(artifact).SerializeToString())
    except onnx.Refused as refused:
        raise Unsupported(refusal("onnx", str(refused), refused.place)) from refused


def _iree(artifact: Artifact, backend: str = "llvm-cpu") -> bytes:
    from lazytensor.artifacts.targets import iree

    return iree.compiled(artifact, backend)


def _web(artifact: Artifact, folder: Path) -> None:
    from lazytensor.artifacts.targets import web

    web.write(artifact, folder)


def _of_onnx() -> frozenset[str]:
    from lazytensor.artifacts.targets.onnx import convert

    return STABLEHLO - convert.rows.keys()


STABLEHLO: Final = frozenset(
    """abs add and atan2 batch_norm_grad batch_norm_inference batch_norm_training bitcast_convert
    broadcast_in_dim case cbrt ceil cholesky clamp compare complex concatenate constant convert
    convolution cosine count_leading_zeros custom_call divide dot_general dynamic_broadcast_in_dim
    dynamic_gather dynamic_iota dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice
    exponential exponential_minus_one fft floor gather get_dimension_size if imag iota is_finite log
    log_plus_one logistic maximum minimum multiply negate not optimization_barrier or pad popcnt
    power real real_dynamic_slice reduce reduce_precision reduce_window remainder reshape reverse
    rng_bit_generator round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter
    shift_left shift_right_arithmetic shift_right_logical sign sine slice sort sqrt subtract tan
    tanh transpose triangular_solve while xor""".split()
)
"""The operations that portable programs have; each target has those that it does not lack."""
LACKING_IN_TFLITE: Final = frozenset(["custom_call"])
LACKING_IN_IREE: Final = frozenset(["custom_call"])
TARGETS: Final[dict[str, Target]] = {
    "stablehlo": Target(
        _stablehlo, None, ".zip", "export", frozenset, True, "`lazytensor.load`, any StableHLO"
    ),
    "jax": Target(_jax, None, ".jax", "export", frozenset, True, "`jax.export.deserialize`"),
    "savedmodel": Target(
        None, _savedmodel, "", "tf", frozenset, True, "`tf.saved_model.load`, TF Serving"
    ),
    "tflite": Target(_tflite, None, ".tflite", "tf", lambda: LACKING_IN_TFLITE, True, "LiteRT, LiteRT.js"),
    "onnx": Target(_onnx, None, ".onnx", "onnx", _of_onnx, True, "onnxruntime"),
    "iree": Target(_iree, None, ".vmfb", "iree", lambda: LACKING_IN_IREE, False, "IREE"),
    "web": Target(None, _web, "", "onnx", _of_onnx, True, "a browser"),
}


def write(artifact: Artifact, target: str, path: Path, **options: Any) -> Path:
    """Write an artifact for a target; see `Artifact.to`."""
    row = TARGETS.get(target)
    if row is None:
        raise ValueError(f"a target was expected, one of {', '.join(TARGETS)}; got {target!r}")
    try:
        check(artifact, target, row)
        if row.make is not None:
            data = row.make(artifact, **options)
            replace(path, lambda new: new.write_bytes(data))
        elif row.fill is not None:
            fill = row.fill
            replace(path, lambda new: fill(artifact, new, **options))
    except ModuleNotFoundError as error:
        text = f"{target} needs {error.name}: pip install 'lazytensor[{row.extra}]'"
        raise ImportError(text) from error
    return path


def check(artifact: Artifact, name: str, target: Target) -> None:
    """Raises: Unsupported for what a target lacks, with the user's line and who has it."""
    if artifact.signature.symbol and not target.is_open:
        others = ", ".join(k for k, row in TARGETS.items() if row.is_open)
        size = artifact.signature.symbol
        text = f"{name}: it has no sizes that are known at run time only, as {size!r} is"
        raise Unsupported(f"{text}: export with a fixed size, or for {others}")
    from lazytensor.backends.xla.portable import operations

    lacking = target.lacks()
    for op in operations.read(artifact.program).operations():
        if op.name in lacking:
            raise Unsupported(refusal(name, op.name, op.place))


def refusal(target: str, operation: str, place: str) -> str:
    """What is said where a target lacks an operation."""
    where = f" (recorded at {place})" if place else ""
    return f"{target} has no {operation}{where}; {', '.join(_having(target, operation))} have it"


def _having(target: str, operation: str) -> Iterator[str]:
    """The other targets that have an operation; those made of the same one lack it, too."""
    for name, row in TARGETS.items():
        with suppress(ImportError):
            is_other = row.lacks is not TARGETS[target].lacks
            if is_other and operation not in row.lacks():
                yield name
