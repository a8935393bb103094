"""Random streams of the device: counter-based; seed and counter are data of a program."""

from __future__ import annotations

import os
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import F32, F64, U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar, varying
from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.types import Shape


class RandomStream:
    """A generator's position: all blocks of random bits before `counter` are used up."""

    __slots__ = ("__weakref__", "counter", "lock", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed % 2**64
        self.counter = 0
        self.lock = Lock()

    def take(self, blocks: int) -> tuple[int, int]:
        """Reserve `blocks` blocks. Result: seed and counter of the first one."""
        if thread.recorder.tracing:
            raise Unsupported("random numbers differ from call to call: no body of a composite")
        with self.lock:
            words = self.seed, self.counter
            self.counter = (self.counter + blocks) % 2**64
        return words

    def begin(self, seed: int, counter: int = 0) -> None:
        """Go on from `counter` of the stream that belongs to `seed`."""
        with self.lock:
            self.seed, self.counter = int(seed) % 2**64, counter


default: Final = RandomStream(torch.initial_seed())
"""The stream of `torch.manual_seed`. A seed set before the import counts, too."""
DEVICE: Final = "lazytensor"


_streams: Final[WeakValueDictionary[int, RandomStream]] = WeakValueDictionary()
"""Streams by torch's C++ generator: a kernel gets another Python object than the user holds."""


class Generator(torch._C.Generator):
    """`torch.Generator("lazytensor")`: torch's CPU generator with a stream of the device."""

    stream: RandomStream

    def __new__(cls, device: Any = DEVICE, stream: RandomStream | None = None) -> Generator:
        """A generator whose seed is torch's default one."""
        made: Generator = super().__new__(cls, "cpu")
        made.stream = stream or RandomStream(torch._C.default_generator.initial_seed())
        _streams[made._cdata] = made.stream
        return made

    @property
    def device(self) -> torch.device:
        """The device that it draws on."""
        return torch.device(DEVICE, 0)

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream that belongs to `seed`."""
        self.stream.begin(seed)
        return self

    def seed(self) -> int:
        """Begin a stream with an unpredictable seed. Result: the seed."""
        self.stream.begin(int.from_bytes(os.urandom(8), "little") >> 1)
        return self.stream.seed

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self.stream.seed

    def get_state(self) -> torch.Tensor:
        """Seed and counter, as bytes in a CPU tensor."""
        return torch.from_numpy(np.array(self.stream.take(0), np.uint64).view(np.uint8))

    def set_state(self, state: torch.Tensor) -> Generator:
        """Go on where `get_state` was called. Raises: TypeError, RuntimeError."""
        if state.dtype != torch.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.numel() != 16:
            raise RuntimeError("RNG state is wrong size")
        seed, counter = state.cpu().contiguous().numpy().view(np.uint64)
        self.stream.begin(int(seed), int(counter))
        return self

    def clone_state(self) -> Generator:
        """A generator that goes on as this one would."""
        return Generator().set_state(self.get_state())

    def get_offset(self) -> int:
        """How many blocks of bits have been used."""
        return self.stream.counter

    def set_offset(self, offset: int) -> None:
        """Go on from another block."""
        self.stream.begin(self.stream.seed, int(offset))

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, state: Generator) -> Generator:
        """Go on where another generator is."""
        return self.set_state(state.get_state())

    def __reduce__(self) -> Any:
        return _restored, (self.get_state(),)


def _restored(state: torch.Tensor) -> Generator:
    return Generator().set_state(state)


class _Kind(type(torch._C.Generator)):  # type: ignore[misc]
    """The metaclass that lets `torch.Generator(device)` make the device's generator."""

    def __call__(cls, device: Any = "cpu") -> Any:
        if torch.device(device).type == DEVICE:
            return Generator(device)
        return torch._C.Generator(device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, torch._C.Generator)


def attach() -> None:
    """Let `torch.Generator` make generators of the device; the class takes no hook."""
    members = {"__doc__": torch._C.Generator.__doc__, "__module__": "torch"}
    torch.Generator = _Kind("Generator", (torch._C.Generator,), members)


def stream_of(generator: Any) -> RandomStream:
    """The stream to draw from. Raises: RuntimeError, torch's."""
    if generator is None:
        return default
    found = _streams.get(generator._cdata)
    if found is None:
        raise RuntimeError(
            f"Expected a '{DEVICE}' device type for generator but found '{generator.device.type}'"
        )
    return found


def bits(shape: Shape, dtype: np.dtype, generator: Any = None) -> Node:
    """Fresh random bits."""
    count = int(np.prod(shape, dtype=np.int64)) * max(dtype.itemsize // 4, 1)
    words = varying(stream_of(generator).take(count // 4 + 1), U64)
    _, found = ops.rng_bit_generator(words, shape=shape, dtype=dtype, algorithm="PHILOX")
    return found


def uniform(shape: Shape, dtype: np.dtype, generator: Any = None) -> Node:
    """Numbers from [0, 1), f64 or f32."""
    wide = dtype == F64
    word, kept = (U64, 53) if wide else (U32, 24)
    shift = scalar(word.itemsize * 8 - kept, word)
    whole = bits(shape, word, generator) >> shift
    whole = ops.convert(whole, dtype=F64 if wide else F32)
    return whole * 2.0**-kept


def normal(shape: Shape, dtype: np.dtype, generator: Any = None) -> Node:
    """Numbers of mean 0 and variance 1, f64 or f32, by Box and Muller."""
    real = F64 if dtype == F64 else F32
    one, two = scalar(1.0, real), scalar(-2.0, real)
    radius = uniform(shape, real, generator)
    radius = ops.sqrt(two * ops.log(one - radius))
    angle = uniform(shape, real, generator) * (2 * np.pi)
    return radius * ops.cos(angle)


def exponential(shape: Shape, dtype: np.dtype, generator: Any = None) -> Node:
    """Waiting times of mean 1, positive, f64 or f32."""
    unit = uniform(shape, dtype, generator)
    one = scalar(1.0, unit.type.dtype)
    tiny = scalar(float(np.finfo(unit.type.dtype).tiny), unit.type.dtype)
    return ops.maximum(-ops.log(one - unit), tiny)
