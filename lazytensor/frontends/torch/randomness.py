"""The random stream of the device: counter-based; seed and counter are data of a program."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.dtypes import F32, F64, U32, U64
from lazytensor.core.node import Node
from lazytensor.core.op import leaf, scalar
from lazytensor.core.types import Shape

_stream: Final = {"seed": 0, "counter": 0}


def seed(value: int) -> None:
    """Begin the stream that belongs to `value`."""
    _stream.update(seed=int(value) % 2**64, counter=0)


def state(device: Any = None) -> Any:
    """Seed and counter, as bytes in a CPU tensor."""
    words = np.array([_stream["seed"], _stream["counter"]], np.uint64)
    return torch.from_numpy(words.view(np.uint8).copy())


def set_state(value: Any, device: Any = None) -> None:
    """Go on where `state()` was taken."""
    words = value.cpu().contiguous().numpy().view(np.uint64)
    _stream.update(seed=int(words[0]), counter=int(words[1]))


def bits(shape: Shape, dtype: np.dtype) -> Node:
    """Fresh random bits."""
    words = np.array([_stream["seed"], _stream["counter"]], np.uint64)
    count = int(np.prod(shape, dtype=np.int64)) * max(dtype.itemsize // 4, 1)
    _stream["counter"] = (_stream["counter"] + count // 4 + 1) % 2**64
    _, found = ops.rng_bit_generator(leaf(words), shape=shape, dtype=dtype, algorithm="PHILOX")
    made: Node = found
    return made


def uniform(shape: Shape, dtype: np.dtype) -> Node:
    """Numbers from [0, 1), f64 or f32."""
    wide = dtype == F64
    word, kept = (U64, 53) if wide else (U32, 24)
    shift = scalar(word.itemsize * 8 - kept, word)
    whole = ops.convert(ops.shift_right(bits(shape, word), shift), dtype=F64 if wide else F32)
    found: Node = ops.multiply(whole, scalar(2.0**-kept, whole.type.dtype))
    return found


def normal(shape: Shape, dtype: np.dtype) -> Node:
    """Numbers of mean 0 and variance 1, f64 or f32, by Box and Muller."""
    real = F64 if dtype == F64 else F32
    one, two = scalar(1.0, real), scalar(-2.0, real)
    radius = ops.sqrt(ops.multiply(two, ops.log(ops.subtract(one, uniform(shape, real)))))
    angle = ops.multiply(uniform(shape, real), scalar(2 * np.pi, real))
    found: Node = ops.multiply(radius, ops.cos(angle))
    return found
