"""The data slots of a run as buffers, and in a module.

On a CPU each dtype has a buffer, which the upload does not copy. An upload to another device takes
about as long as a kernel, so that all go in one, as 64-bit words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lazytensor.backends.xla import client
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.core.device.backend import HOST_PLATFORM
from lazytensor.core.ir.dtypes import (
    BF16,
    BOOL,
    COMPLEX,
    F16,
    F32,
    F64,
    INTS,
    U32,
    U64,
    real_of,
)
from lazytensor.core.ir.types import TensorType, tensor_type

U16: Final = np.dtype(np.uint16)
BITS: Final = {F64: U64, F32: U32, F16: U16, BF16: U16}
"""Per float, the integer with its bits."""
UNREADABLE: Final = {"tpu": frozenset([F64, *COMPLEX])}
"""Per platform, the dtypes whose bits its compiler does not take from words."""
Types = dict[np.dtype, TensorType]


def are_joined(platform: str) -> bool:
    """Whether the slots of several dtypes go in one buffer."""
    return platform != HOST_PLATFORM


def _joined(dtypes: Sequence[np.dtype], platform: str | None) -> list[np.dtype]:
    """Those of the dtypes whose slots one buffer holds; none, if there is nothing to join."""
    if platform is None or not are_joined(platform):
        return []
    known = {BOOL, *INTS, *BITS, *COMPLEX} - UNREADABLE.get(platform, frozenset())
    found = [dtype for dtype in dtypes if dtype in known]
    return found if len(found) > 1 else []


def slots(packed: Sequence[np.ndarray]) -> list[client.Buffer]:
    """The buffers of packed slots: that of words, if there is one, and then one per dtype."""
    together = _joined([array.dtype for array in packed], client.platform())
    words = [_words(array) for array in packed if array.dtype in together]
    alone = [array for array in packed if array.dtype not in together]
    arrays = [np.concatenate(words), *alone] if words else alone
    return [client.to_device(array, owned=True) for array in arrays]


def _words(array: np.ndarray) -> np.ndarray:
    """The bits of an array's elements: a word each, or two for the parts of a complex number."""
    if array.dtype in COMPLEX:
        array = array.view(real_of(array.dtype))
    return array.view(f"u{array.dtype.itemsize}").astype(np.uint64)


def parameters(types: Types, platform: str | None) -> list[TensorType]:
    """The types of the buffers that `slots` makes of arrays of these types.

    platform: None on a mesh, where each dtype has a buffer.
    """
    together = _joined(list(types), platform)
    count = sum(types[dtype].size * _words_each(dtype) for dtype in together)
    words = [tensor_type(U64, (count,))] if together else []
    return words + [type for dtype, type in types.items() if dtype not in together]


def arrays(
    e: Emitter, types: Types, buffers: Sequence[Value], platform: str | None
) -> dict[np.dtype, Value]:
    """The packed slots per dtype, from the buffers."""
    together = _joined(list(types), platform)
    rest = iter(buffers)
    words = next(rest) if together else None
    found: dict[np.dtype, Value] = {}
    at = 0
    for dtype, type in types.items():
        if dtype not in together:
            found[dtype] = next(rest)
            continue
        assert words is not None
        count = type.size * _words_each(dtype)
        found[dtype] = _of_words(e, static_slice(e, words, (at,), (count,), (1,)), type)
        at += count
    return found


def _words_each(dtype: np.dtype) -> int:
    return 2 if dtype in COMPLEX else 1


def _of_words(e: Emitter, words: Value, type: TensorType) -> Value:
    """Elements of `type` from their words."""
    if type.dtype in COMPLEX:
        part = type.with_dtype(real_of(type.dtype))
        halves = [static_slice(e, words, (i,), (type.size,), (2,)) for i in (0, 1)]
        pair = [_of_words(e, half, part) for half in halves]
        return e.op("complex", type, *pair)
    bits = BITS.get(type.dtype)
    if bits is None:
        return e.convert(words, type.dtype)
    return e.op("bitcast_convert", type, e.convert(words, bits))
