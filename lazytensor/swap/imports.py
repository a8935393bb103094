"""Replaces one package by another where the user's own code imports it.

`sys.modules` does not change, so that other code still gets the original package. Only the result
of an import statement changes, depending on the importing code: Python passes its globals to
`__import__`, and these tell whether it is the user's.
"""

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType, ModuleType
from typing import Any

from lazytensor.swap.ownership import is_users_namespace

# When `warnings` counts `stacklevel`, it skips frames of files with this name. So a deprecation
# raised while a module is imported points to the line of the import, not into Python's import
# machinery. The functions below are part of that machinery.
MACHINERY = "<lazytensor importlib._bootstrap>"


Owner = Callable[[Mapping[str, Any], FrameType], bool]
"""Whether the swap applies to code with these globals, run by this frame."""


def swap(
    target: str = "numpy",
    replacement: str = "lazytensor.numpy",
    owned: Owner = is_users_namespace,
    ready: Callable[[], object] = bool,
) -> Callable[[], None]:
    """Give the user's code `replacement` where it imports `target`; the result undoes it.

    `ready` is called when the replacement has been imported.
    """
    stand_in = StandIn(target, replacement, owned, ready)
    plain_statement, plain_function = builtins.__import__, importlib.import_module
    builtins.__import__ = _statement(stand_in, plain_statement)
    importlib.import_module = _function(stand_in, plain_function)

    def undo() -> None:
        builtins.__import__ = plain_statement
        importlib.import_module = plain_function

    return undo


class StandIn:
    """The modules of the replacement, by the target's names."""

    def __init__(
        self, target: str, replacement: str, owned: Owner, ready: Callable[[], object] = bool
    ) -> None:
        self.target = target
        self.replacement = replacement
        self.owned = owned
        self.prefix = target + "."
        self.ready: Callable[[], object] | None = ready

    def covers(self, name: str) -> bool:
        return name == self.target or name.startswith(self.prefix)

    def module(self, name: str) -> Any:
        """The replacement of the module `name`; that module itself if there is none."""
        found: Any = importlib.import_module(self.replacement)
        if self.ready is not None:
            ready, self.ready = self.ready, None
            ready()
        for part in name.split(".")[1:]:
            try:
                found = getattr(found, part)
            except AttributeError:
                return sys.modules[name]
        return found


def _statement(stand_in: StandIn, plain: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """Return the `__import__` that import statements call."""

    def import_(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        try:
            module = plain(name, globals, locals, fromlist, level)
        except BaseException as error:
            _leave_out_this_frame(error)
            raise
        if level or not stand_in.covers(name):
            return module
        caller = sys._getframe(1)
        if not stand_in.owned(caller.f_globals if globals is None else globals, caller):
            return module
        found = stand_in.module(name if fromlist else stand_in.target)
        # If neither has a name, return the target: the error then is the target's own.
        missing = (part for part in fromlist or () if part != "*" and not hasattr(found, part))
        return module if any(not hasattr(module, part) for part in missing) else found

    import_.__code__ = _as_machinery(import_.__code__)
    return import_


def _function(stand_in: StandIn, plain: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """Return the replacement of `importlib.import_module`."""

    def import_module(name: str, package: str | None = None) -> Any:
        try:
            module = plain(name, package)
        except BaseException as error:
            _leave_out_this_frame(error)
            raise
        caller = sys._getframe(1)
        if stand_in.covers(name) and stand_in.owned(caller.f_globals, caller):
            return stand_in.module(name)
        return module

    import_module.__doc__ = plain.__doc__
    import_module.__code__ = _as_machinery(import_module.__code__)
    return import_module


def _as_machinery(code: CodeType) -> CodeType:
    return code.replace(co_filename=MACHINERY)


def _leave_out_this_frame(error: BaseException) -> None:
    # The first entry is the frame that caught `error`, and a bare `raise` does not add another.
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
