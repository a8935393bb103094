"""TF's own kernel: for what no lazy tensor touches, and, loudly, for what has no row."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.eager.record import stop_recording

from lazytensor.core.observe.host_call import HostCall
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.tf.dispatch import keras_distribution, opdef
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, ValueNeeded, eager
from lazytensor.frontends.tf.tensors.variables import cell_of, give_back, handle_of, is_variable

execute: Final = pywrap_tfe.TFE_Py_FastPathExecute
"""TF's own entry."""
_no_tape: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
_is_stopped: Final = pywrap_tfe.TFE_Py_TapeSetIsStopped
_stop: Final = pywrap_tfe.TFE_Py_TapeSetStopOnThread
_restart: Final = pywrap_tfe.TFE_Py_TapeSetRestartOnThread

PYTHON: Final = frozenset(["EagerPyFunc", "PyFunc", "PyFuncStateless"])
ASKING: Final = frozenset(
    [
        "Where", "Print", "PrintV2", "StringFormat", "AsString", "Assert", "EnsureShape",
        "OptionalFromValue", "SerializeTensor", "EncodePng", "EncodeJpeg", "WriteScalarSummary",
        "WriteHistogramSummary", "WriteSummary", "SaveV2", "TensorSliceDataset", "TensorDataset",
        "EagerPyFunc", "PyFunc", "PyFuncStateless", "Unique", "UniqueV2", "UniqueWithCounts",
        "UniqueWithCountsV2", "CheckNumericsV2", "ListDiff", "DynamicPartition", "DynamicStitch",
        "ParallelDynamicStitch", "NonMaxSuppressionV3", "Range", "Empty", "ConcatOffset",
        "BroadcastArgs", "RngReadAndSkip", "RngSkip", "CTCGreedyDecoder", "CTCBeamSearchDecoder",
    ]
)  # fmt: skip
"""Raw ops that ask for values by their nature: they are no fallbacks."""
SPARSE: Final = frozenset(
    [
        "SparseFillEmptyRows", "SparseConcat", "SparseSlice", "SparseAdd", "SparseSplit",
        "SparseReorder", "SparseSparseMaximum", "SparseSparseMinimum", "SparseReduceMaxSparse",
        "SparseReduceSumSparse", "SparseCross", "SparseCrossV2", "SparseCrossHashed",
        "SparseToSparseSetOperation", "DenseToSparseSetOperation", "DenseToDenseSetOperation",
        "DenseCountSparseOutput", "SparseCountSparseOutput", "RaggedCountSparseOutput",
        "SerializeSparse", "SerializeManySparse", "SparseTensorToCSRSparseMatrix",
        "DenseToCSRSparseMatrix", "RaggedTensorToVariant", "RaggedTensorToSparse", "RaggedGather",
        "RaggedRange",
    ]
)  # fmt: skip
"""Raw ops that give parts of sparse and ragged tensors, which are TF's own: how large these are is
data, or where they are, or they are variants. They are no fallbacks either."""


def untouched(ctx: Any, op: str, name: Any, args: tuple[Any, ...]) -> Any:
    """TF's kernel on TF's tensors."""
    for x in args:
        settle(x)
    if op in PYTHON and state.on:
        return _in_python(ctx, op, name, *args)
    made = execute(ctx, op, name, *args)
    return keras_distribution.batch(made) if op in keras_distribution.BATCHES else made


def _in_python(ctx: Any, op: str, name: Any, *args: Any) -> Any:
    """A kernel that calls Python, which is not to record: it wants values back.

    The Python has a tape of its own where it is to be differentiated: tapes are not stopped.
    """
    state.on = False
    stopped = _is_stopped()
    if stopped:
        _restart()
    try:
        return execute(ctx, op, name, *args)
    finally:
        state.on = True
        if stopped:
            _stop()


def settle(x: Any) -> None:
    if type(x) is EagerTensor:
        if cell_of(x) is not None:
            give_back(x)
    elif isinstance(x, list | tuple):
        for item in x:
            settle(item)
    elif is_variable(x) and cell_of(handle_of(x)) is not None:
        give_back(handle_of(x))


def native(definition: opdef.OpDef, ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
    """TF's kernel on materialised inputs; the tape sees the lazy ones. Counted and loud."""
    arity = definition.arity
    lazy = [x for given in args[:arity] for x in _items(given) if type(x) is LazyTensor]
    if not lazy:
        return untouched(ctx, definition.name, name, args)
    if state.tracing:
        raise ValueNeeded
    pending = [x.node for x in lazy if x.node.value is None]
    if pending:
        scheduler.sync(*pending, cause=definition.name)
    for given in args[:arity]:
        settle(given)
    account = HostCall(definition.name, "TensorFlow", "TensorFlow computes it on the CPU")
    with nullcontext() if _asks(definition.name) else account, stop_recording():
        run = _in_python if definition.name in PYTHON else execute
        made = run(ctx, definition.name, name, *map(_down, args[:arity]), *args[arity:])
    if not _no_tape():
        _tape(definition, args, made)
    return made


def _asks(name: str) -> bool:
    """Whether an op wants values by its nature: a data set keeps what its functions capture."""
    return name in ASKING or name in SPARSE or "Dataset" in name


def _items(x: Any) -> Any:
    return x if isinstance(x, list | tuple) else (x,)


def _down(x: Any) -> Any:
    if type(x) is LazyTensor:
        return eager(x)
    return [_down(item) for item in x] if isinstance(x, list | tuple) else x


def _tape(definition: opdef.OpDef, args: tuple[Any, ...], made: Any) -> None:
    from tensorflow.python.framework import ops

    attrs: dict[str, Any] = {}
    inputs: list[Any] = []
    for given, x in zip(definition.inputs, args, strict=False):
        items = [
            item if type(item) in (LazyTensor, EagerTensor) else ops.convert_to_tensor(item)
            for item in (x if given.is_list else [x])
        ]
        inputs += items
        if given.number_attr:
            attrs.setdefault(given.number_attr, len(items))
        if given.type_attr and items:
            attrs.setdefault(given.type_attr, items[0]._datatype_enum())
        if given.type_list_attr:
            attrs.setdefault(given.type_list_attr, [item._datatype_enum() for item in items])
    outputs = [y for x in _items(made) if made is not None for y in _items(x)]
    given_attrs = args[definition.arity :]
    inferred = [part for pair in attrs.items() for part in pair]
    pywrap_tfe.TFE_Py_RecordGradient(
        definition.name, inputs, (*given_attrs, *inferred), outputs, None
    )


def current() -> Any:
    """TF's context."""
    return context.context()
