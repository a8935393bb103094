"""Choice between forms of an op by measurement, once for each shape on a machine.

The choices are kept on disk beside the executables, in a file named after the backend's
fingerprint: they are measured again on another processor, version or set of lowerings.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import ir_type
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.callbacks import Callback
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.core.device import garbage
from lazytensor.core.device.backend import Effort, backend
from lazytensor.core.ir.types import TensorType
from lazytensor.core.runtime import disk_cache
from lazytensor.core.settings import settings

Form = Callable[..., Value]
RUNS: Final = 9
"""Runs of each form. The median counts: forms that make large arrays vary most, and would win by
their fastest run."""
HEATS: Final = 3
"""Runs of each form, at least."""
BEATEN: Final = 1.5
"""A form is left out after these runs if its fastest takes this many times the fastest of all."""


def fastest(
    name: str,
    type: TensorType,
    operands: Sequence[TensorType],
    forms: Mapping[str, Form],
    lowerings: Rows,
    *static: Any,
    dearer: Mapping[str, float] = MappingProxyType({}),
) -> str:
    """The name of the fastest of `forms` for these types; each is a lowering with `static`.

    dearer: by name, what a form takes in a program, by what it takes alone, where that is not 1.
    """
    key = f"{name} {operands} {type}"
    known = _known()
    if known.get(key) not in forms:
        if client.effort() is Effort.APART:
            client.compiling.is_likely = True
            return _likely(forms)
        with garbage.uncollected():  # some forms call the host
            seconds = _seconds(forms, type, operands, static, lowerings)
        known[key] = min(seconds, key=lambda form: seconds[form] * dearer.get(form, 1))
        _keep(known)
    return known[key]


def _likely(forms: Mapping[str, Form]) -> str:
    """The form that is taken until forms are measured: XLA's own convolution."""
    return next(iter(forms))


def _seconds(
    forms: Mapping[str, Form],
    type: TensorType,
    operands: Sequence[TensorType],
    static: Sequence[Any],
    lowerings: Rows,
) -> dict[str, float]:
    """Seconds of each form alone. The forms take turns, so that a slow moment hits all of them."""
    runs = {}
    for name, form in forms.items():
        runs[name] = client.compile(*_module(form, type, operands, static, lowerings))
        runs[name].expect([type])
    inputs = [client.to_device(np.ones(t.shape, t.dtype), owned=True) for t in operands]
    taken: dict[str, list[float]] = {name: [] for name in forms}
    for run in range(RUNS):
        bound = BEATEN * min(map(min, taken.values())) if run >= HEATS else math.inf
        for name, executable in runs.items():
            if run and min(taken[name]) > bound:
                continue
            start = time.perf_counter()
            client.block_until_ready(executable(inputs)[0])
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def _module(
    form: Form,
    type: TensorType,
    operands: Sequence[TensorType],
    static: Sequence[Any],
    lowerings: Rows,
) -> tuple[ir.Module, list[Callback]]:
    with client.context(), ir.Location.unknown():
        module = ir.Module.create()
        signature = ir.FunctionType.get([ir_type(t) for t in operands], [ir_type(type)])
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", signature, visibility="public")
        emitter = Emitter(module, lowerings)
        block = main.add_entry_block()
        with ir.InsertionPoint(block):
            arguments = zip(operands, block.arguments, strict=True)
            values = [Value(emitter, t, a) for t, a in arguments]
            func.ReturnOp([form(emitter, type, *values, *static).ir])
    return module, emitter.callbacks


def _path() -> Path:
    name = blake2b(backend().fingerprint(), digest_size=16).hexdigest()
    return disk_cache.folder() / f"choices-{name}{disk_cache.CHOICES_SUFFIX}"


@cache
def _known() -> dict[str, str]:
    """The choices made on this machine, by this process too."""
    with suppress(OSError, ValueError):
        found = json.loads(_path().read_text()) if settings.disk else None
        if isinstance(found, dict):
            return found
    return {}


def _keep(known: Mapping[str, str]) -> None:
    if not settings.disk:
        return
    with suppress(OSError):  # then the next process measures again
        path = _path()
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(known, indent=1))
        new.replace(path)
