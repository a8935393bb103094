"""With `LAZYTENSOR_MODULES=1`: what a module records is named by its path, for `program.show()`."""

from __future__ import annotations

import threading
from typing import Any, Final

from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

from lazytensor.core.ir.module_scope import enter, leave
from lazytensor.core.settings import settings


class _Calls(threading.local):
    depth = 0
    paths: dict[int, str] = {}  # replaced, never changed


_calls: Final = _Calls()


def _enter(module: Any, args: Any) -> None:
    if not _calls.depth:
        top = type(module).__name__
        named = module.named_modules(prefix=top)
        _calls.paths = {id(part): path for path, part in named}
    _calls.depth += 1
    enter(_calls.paths.get(id(module), type(module).__name__))


def _leave(module: Any, args: Any, output: Any) -> None:
    _calls.depth -= 1
    leave()


def attach() -> None:
    """Follow the calls of all modules, if the setting asks for it: it costs time."""
    if settings.modules:
        register_module_forward_pre_hook(_enter)
        register_module_forward_hook(_leave, always_call=True)
