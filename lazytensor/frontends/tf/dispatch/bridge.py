"""Rows without functions of ours: what TensorFlow's own bridge to XLA makes of a raw op.

For a signature (types, values of the host's, attributes) the bridge writes StableHLO, in some
20 ms. It becomes an op of the core's, and TensorFlow's kernel is what the interpreter runs. What
the bridge cannot write, or our XLA not read, TensorFlow's kernel computes as if there were no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.foreign import Foreign
from lazytensor.frontends.tf.dispatch import opdef
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import TF, of_array

MODULES_KEPT: Final = 4096
PLATFORMS: Final = {"cpu": "CPU", "cuda": "GPU", "tpu": "TPU"}
"""The bridge's names of XLA's platforms."""
ANY_PLATFORM: Final = "CPU"
"""The one for which TensorFlow always has a bridge."""
_modules: Final[dict[Any, tuple[Foreign, list[np.dtype]]]] = {}
"""Per signature: the module, and the dtypes that TensorFlow has for its results."""

ROWS: Final[dict[tuple[int, ...], str]] = {
    (): """
        AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV ExtractImagePatches
        ResizeBilinearGrad LRN LRNGrad MaxPoolGradGrad MaxPool3DGradGrad
        Betainc Igamma Igammac IgammaGradA RandomGammaGrad PopulationCount
        Bucketize Cross DataFormatDimMap DataFormatVecPermute Conv ApproxTopK
        FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars
        FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel
        FakeQuantWithMinMaxVarsPerChannelGradient
        QuantizeAndDequantizeV2 QuantizeAndDequantizeV4
        ReverseSequence SparseMatMul TridiagonalMatMul TridiagonalSolve ToBool
        XlaConcatND XlaSplitND
    """,
    (1,): """
        ResizeBilinear ResizeNearestNeighbor BatchToSpace SpaceToBatch CumulativeLogsumexp
        MirrorPadGrad Bincount DenseBincount
    """,
    (2,): "LinSpace",
    (3,): "QuantizeAndDequantizeV3",
    (1, 2): "MaxPoolV2",
    (3, 4): "MaxPoolGradV2 MaxPoolGradGradV2",
    (2, 3, 4): "NonMaxSuppressionV4",
}
"""Names of raw ops by their inputs whose values a program needs to be made."""


def bridged(name: str) -> Function:
    """The row of a raw op that the bridge knows."""

    def row(*inputs: Any, **attrs: Any) -> Any:
        nodes = [x for given in inputs for x in (given if isinstance(given, list) else [given])]
        operands = [x for x in nodes if isinstance(x, Node)]
        types = tuple(x.type for x in operands)
        forms = tuple(map(_form, inputs))
        key = (name, types, forms, *attrs.items())
        known = _modules.get(key)
        if known is None:
            if len(_modules) > MODULES_KEPT:
                _modules.clear()
            known = _modules[key] = _made(name, types, inputs, attrs)
        module, dtypes = known
        made = ops.foreign(*operands, module=module)
        made = made if isinstance(made, tuple) else (made,)
        return [
            x if x.type.dtype == dtype else ops.convert(x, dtype=dtype)
            for x, dtype in zip(made, dtypes, strict=True)
        ]

    return row


def _form(given: Any) -> Any:
    """What a module depends on of an input besides its type."""
    if isinstance(given, list):
        return len(given)
    if isinstance(given, np.ndarray):
        return given.dtype, given.shape, given.tobytes()
    return None


def _made(
    name: str, types: Sequence[TensorType], inputs: Sequence[Any], attrs: dict[str, Any]
) -> tuple[Foreign, list[np.dtype]]:
    definition = opdef.find(name)
    assert definition is not None
    raw = getattr(tf.raw_ops, name)
    names = [given.name for given in definition.inputs]

    def call(*tensors: Any) -> Any:
        rest = iter(tensors)
        given = {n: _given(form, rest) for n, form in zip(names, inputs, strict=True)}
        return raw(**given, **attrs)

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        tensors = [of_array(array) for array in arrays]
        try:
            made = _natively(lambda: call(*tensors))
        except tf.errors.NotFoundError:  # it has no kernel, the bridge only
            made = _natively(lambda: compiled(*tensors))
        return [np.asarray(y._numpy()) for y in tf.nest.flatten(made)]

    compiled = tf.function(call, jit_compile=True, autograph=False)
    specs = [tf.TensorSpec(t.shape, TF[t.dtype]) for t in types]
    try:
        text, dtypes = _natively(lambda: _written(compiled, specs))
    except Exception as error:  # noqa: BLE001 -- whatever the bridge refuses an op for
        raise Unsupported(f"{name}: TensorFlow's bridge refuses it: {error}") from None
    made = Foreign(f"tf.{name}", text, run)
    for type, dtype in zip(made.results, dtypes, strict=True):
        if type.dtype.itemsize < dtype.itemsize:
            raise Unsupported(f"{name}: TensorFlow's bridge computes {dtype} as {type.dtype}")
    return made, dtypes


def _written(function: Any, specs: Sequence[Any]) -> tuple[str, list[np.dtype]]:
    """StableHLO of a function, and the dtypes of its results."""
    made = tf.nest.flatten(function.get_concrete_function(*specs).structured_outputs)
    dtypes = [np.dtype(x.dtype.as_numpy_dtype) for x in made]
    with _seeds_kept():
        text = stablehlo(function, specs, PLATFORMS.get(backend().platform(), ANY_PLATFORM))
    return text, dtypes


def stablehlo(function: Any, specs: Sequence[Any], platform: str) -> str:
    """What the bridge writes for a platform, or else for a CPU, if that would run there too.

    Raises: ValueError if the bridge does not know an op, or calls a CPU's library for it.
    """
    write = function.experimental_get_compiler_ir(*specs)
    try:
        return str(write(stage="stablehlo", platform_name=platform))
    except ValueError:
        if platform == ANY_PLATFORM:
            raise
        text = str(write(stage="stablehlo", platform_name=ANY_PLATFORM))
        if "custom_call" in text:
            raise
        return text


@contextmanager
def _seeds_kept() -> Iterator[None]:
    """TF draws a number to find out which device there is. It is not to come from the user's seeds:
    a kernel of the same seed would go on with the numbers after it.
    """
    ctx = context.context()
    seeds = getattr(ctx, "_rng", None)
    if seeds is not None:
        ctx._rng = Random()
    try:
        yield
    finally:
        if seeds is not None:
            ctx._rng = seeds


def _given(form: Any, rest: Any) -> Any:
    if isinstance(form, list):
        return [next(rest) for _ in form]
    return next(rest) if isinstance(form, Node) else form


def _natively(function: Callable[[], Any]) -> Any:
    """The result of `function` with recording off and outside any function that is being built.

    A function that is being built may ask for the value of a tensor that it captures.
    """
    before, state.on = state.on, False
    try:
        with tf.init_scope():
            return function()
    finally:
        state.on = before


for host, text in ROWS.items():
    rows({name: bridged(name) for name in text.split()}, host=host)
