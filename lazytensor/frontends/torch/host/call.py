"""Torch's CPU kernels called on NumPy arrays: the same memory, no copies, below all modes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.device.host_threads import SPINNING, Pool
from lazytensor.core.interpreter.rows import Reference

_from_numpy: Final[Callable[[np.ndarray], Any]] = torch.from_numpy  # before `sharing` replaces it
_SKIPPED_KEYS: Final = (
    "Python", "PythonTLSSnapshot", "AutogradFunctionality", "ADInplaceOrView", "AutocastCPU",
    "Functionalize", "FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode",
)  # fmt: skip


def _excluded() -> Any:
    found = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradFunctionality)
    for name in _SKIPPED_KEYS:
        found = found | torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name))
    return found


EXCLUDED: Final = _excluded()
"""What is between a call and a CPU kernel: autograd, autocast and the user's modes."""

if os.environ.get("OMP_WAIT_POLICY", "").lower() != "passive":
    SPINNING["torch"] = Pool(torch.get_num_threads, torch.set_num_threads)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns once that an array is read-only: nothing writes
    _from_numpy(np.frombuffer(bytes(8), np.float64))


def tensor(array: np.ndarray) -> Any:
    """A CPU tensor over the array's memory."""
    return _from_numpy(array)


def _tensors(arrays: Sequence[np.ndarray]) -> list[Any]:
    """CPU tensors over the arrays' memory, or over copies where torch cannot show it."""
    try:
        return list(map(_from_numpy, arrays))
    except ValueError:  # a stride is negative
        return [_from_numpy(x.copy()) for x in arrays]


def on_arrays(kernel: Callable[..., Any]) -> Reference:
    """The function of arrays that calls `kernel` with tensors over their memory."""

    def function(*arrays: np.ndarray) -> Any:
        with torch._C.DisableTorchFunction(), torch._C._ExcludeDispatchKeyGuard(EXCLUDED):
            made = kernel(*_tensors(arrays))
            return made.numpy() if isinstance(made, torch.Tensor) else _arrays(made)

    return function


def into(kernel: Callable[..., Any], dtype: np.dtype, shape: Sequence[int]) -> Reference:
    """The same for a kernel that has `out=`, so that the result is an array of its own."""

    def function(*arrays: np.ndarray) -> np.ndarray:
        found = np.empty(shape, dtype)
        with torch._C.DisableTorchFunction(), torch._C._ExcludeDispatchKeyGuard(EXCLUDED):
            kernel(*_tensors(arrays), out=_from_numpy(found))
        return found

    return function


def _arrays(made: Sequence[Any]) -> tuple[np.ndarray, ...]:
    return tuple([x.numpy() for x in made])
