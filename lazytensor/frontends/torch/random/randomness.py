"""Random streams of the device: counter-based; seed and counter are data of a program."""

from __future__ import annotations

import os
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
import torch

from lazytensor.core.lib.random import RandomStream

default: Final = RandomStream(torch.initial_seed())
"""The stream of `torch.manual_seed`. A seed set before the import counts, too."""
DEVICE: Final = "lazytensor"


_streams: Final[WeakValueDictionary[int, RandomStream]] = WeakValueDictionary()
"""Streams by torch's C++ generator: a kernel gets another Python object than the user holds."""


class Generator(torch._C.Generator):
    """`torch.Generator("lazytensor")`: torch's CPU generator with a stream of the device."""

    stream: RandomStream
    index: int

    def __new__(cls, device: Any = DEVICE, stream: RandomStream | None = None) -> Generator:
        """A generator whose seed is torch's default one."""
        made: Generator = super().__new__(cls, "cpu")
        made.stream = stream or RandomStream(torch._C.default_generator.initial_seed())
        made.index = 0 if device == DEVICE else torch.device(device).index or 0
        _streams[made._cdata] = made.stream
        return made

    @property
    def device(self) -> torch.device:
        """The device that it draws on."""
        return torch.device(DEVICE, self.index)

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
        return Generator(self.device).set_state(self.get_state())

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
