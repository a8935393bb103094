"""TensorFlow's SavedModel, and TFLite's flat buffers through it.

The program is one operation, `XlaCallModule`, whose variables are the weights. TensorFlow's own
converter turns that operation into TFLite's.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from lazytensor.artifacts.signature import Port
from lazytensor.core.errors import Unsupported

if TYPE_CHECKING:
    from lazytensor.artifacts.artifact import Artifact

VERSION: Final = 10
"""The version of `XlaCallModule`: of StableHLO in portable form."""
PLATFORMS: Final = ("CPU",)
_NO_NAME: Final = re.compile(r"\W")


class _Model(tf.Module):  # type: ignore[misc]
    """A model with one function."""

    def __init__(self, artifact: Artifact, program: bytes) -> None:
        super().__init__(name=_name(artifact.name))
        self.held = [
            tf.Variable(x, trainable=False, name=_name(k)) for k, x in artifact.weights.items()
        ]
        given = [_spec(port) for port in artifact.inputs]
        outputs = artifact.outputs

        @tf.function(input_signature=given, autograph=False)  # type: ignore[untyped-decorator]
        def call(*inputs: Any) -> dict[str, Any]:
            made = xla.call_module(
                [*inputs, *self.held],
                version=VERSION,
                module=program,
                Tout=[tf.as_dtype(port.dtype) for port in outputs],
                Sout=[_sizes(port) for port in outputs],
                platforms=PLATFORMS,
            )
            return {_name(port.name): x for port, x in zip(outputs, made, strict=True)}

        self.call = call


def write(artifact: Artifact, path: Path) -> None:
    """Write a folder that `tf.saved_model.load` reads; its signature is `serving_default`."""
    _save(artifact, artifact.program, path)


def tflite(artifact: Artifact) -> bytes:
    """The program as a TFLite model. Raises: Unsupported with what the converter says."""
    from lazytensor.backends.xla.portable.simplified import simplified

    with TemporaryDirectory() as folder:
        _save(artifact, simplified(artifact.program), Path(folder))
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        try:
            found: bytes = converter.convert()
        except Exception as error:
            raise Unsupported(
                f"tflite: TensorFlow's converter refuses it: {_said(error)}"
            ) from error
    return found


def _save(artifact: Artifact, program: bytes, path: Path) -> None:
    model = _Model(artifact, program)
    tf.saved_model.save(model, str(path), signatures={"serving_default": model.call})


def _spec(port: Port) -> Any:
    return tf.TensorSpec(_sizes(port), tf.as_dtype(port.dtype), name=_name(port.name))


def _sizes(port: Port) -> list[int | None]:
    return [n if isinstance(n, int) else None for n in port.shape]


def _name(name: str) -> str:
    """A name as TensorFlow's signatures take it."""
    made = _NO_NAME.sub("_", name)
    return made if made[:1].isalpha() else f"x_{made}"


def _said(error: Exception) -> str:
    """The converter's first error, which names an operation."""
    lines = [line for line in str(error).splitlines() if "error:" in line]
    return re.sub(r"\s+", " ", (lines or [str(error)])[0])[:400]
