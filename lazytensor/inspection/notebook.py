"""`%load_ext lazytensor`: the cell magic `%%lazy`, and arrays, programs and metrics as HTML."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

import numpy as np
from IPython.core.error import UsageError

import lazytensor.numpy
from lazytensor.core.observe import metrics
from lazytensor.inspection.display import of_array
from lazytensor.inspection.explanation import Explanation, heard
from lazytensor.swap import swap
from lazytensor.swap.imports import StandIn
from lazytensor.swap.ownership import is_users_namespace

SAID: Final = ("cuts", "compiles", "disk_hits", "interpreted", "fallbacks")


def load(shell: Any) -> None:
    """Give the shell (IPython's InteractiveShell) the magic and the formatters."""
    shell.register_magic_function(_lazy(shell), "cell", "lazy")
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(lazytensor.numpy.ndarray, _array)
    formatter.for_type(ModuleType, _module)
    formatter.for_type_by_name("torch", "Tensor", _tensor)
    formatter.for_type_by_name("torch.nn.parameter", "Parameter", _tensor)


def _lazy(shell: Any) -> Callable[[str, str], None]:
    def lazy(line: str, cell: str) -> None:
        """Run the cell with lazy NumPy instead of NumPy, and print what was cut and compiled.

        Names of NumPy's modules stand for the lazy ones while the cell runs. Arrays that it makes
        stay lazy, and so do modules that it imports. `%%lazy --explain` (`-e`) also prints why it
        was cut and compiled.
        """
        options = set(line.split())
        if not options <= {"-e", "--explain"}:
            raise UsageError(f"%%lazy: --explain (-e) is all it takes, got {line!r}")
        before = metrics.snapshot()
        with _swapped(shell.user_ns), heard() as happened:
            done = shell.run_cell(cell)
        after = metrics.snapshot()
        counts = {name: int(after[name] - before[name]) for name in SAID}
        said = [f"{n} {name.replace('_', ' ')}" for name, n in counts.items() if n]
        print("lazytensor:", ", ".join(said) or "nothing was computed")
        if options:
            print(Explanation(happened))
        error = done.error_before_exec or done.error_in_exec
        if error is not None:
            _shown_already(shell, error)
            raise error

    return lazy


def _shown_already(shell: Any, error: BaseException) -> None:
    """Keep the shell from showing this error a second time, with the magic's frames."""
    before = shell.showtraceback

    def show(*args: Any, **kwargs: Any) -> None:
        shell.showtraceback = before
        if sys.exc_info()[1] is not error:
            before(*args, **kwargs)

    shell.showtraceback = show


@contextmanager
def _swapped(names: dict[str, Any]) -> Iterator[None]:
    """Make imports and names of NumPy's modules stand for the lazy ones."""
    module = StandIn("numpy", "lazytensor.numpy", is_users_namespace).module
    lazy = {
        name: module(value.__name__)
        for name, value in names.items()
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] == "numpy"
    }
    plain = {name: names[name] for name in lazy}
    undo = swap()
    names.update(lazy)
    try:
        yield
    finally:
        undo()
        names.update({n: plain[n] for n, made in lazy.items() if names.get(n) is made})


def _array(array: Any) -> str:
    return of_array(array, np.asarray(array), array.dtype)


def _tensor(tensor: Any) -> str | None:
    if tensor.device.type != "lazytensor":
        return None
    host = tensor.detach().cpu()
    small = host.is_floating_point() and host.element_size() <= 2  # NumPy has no bfloat16
    return of_array(tensor, (host.float() if small else host).numpy(), host.dtype)


def _module(module: ModuleType) -> str | None:
    return metrics.snapshot()._repr_html_() if module is metrics else None
