"""Finds a user's script or module, and runs it as `__main__`, as `python` does."""

import builtins
import importlib.util
import io
import linecache
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader
from pkgutil import get_importer
from types import CodeType, ModuleType
from typing import Any

# Frames of these packages above the user's first frame started the user's code.
MACHINERY = frozenset({"lazytensor.cli", "lazytensor.swap", "importlib"})


class Missing(Exception):
    """There is nothing to run; `code` is Python's exit status for it."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(f"{sys.executable}: {text}")
        self.code = code


@dataclass(frozen=True)
class Script:
    """Something that runs as `__main__`."""

    code: CodeType
    arguments: tuple[str, ...]
    namespace: dict[str, Any]

    def run(self) -> int:
        """Run it in a new `__main__`, print an uncaught exception, and return the exit status.

        SystemExit passes through to the caller.
        """
        sys.argv[:] = self.arguments
        module = ModuleType("__main__")
        module.__dict__.update(self.namespace)
        sys.modules["__main__"] = module
        try:
            exec(self.code, module.__dict__)  # noqa: S102
        except SystemExit:
            raise
        except BaseException as error:  # noqa: BLE001 (the interpreter prints these too)
            return report(error)
        return 0


def locate(name: str, arguments: tuple[str, ...], *, module: bool = False) -> Script:
    """Return the script at path `name`, or the module called `name`; set `sys.path` for it.

    Raises `Missing` if there is none, and errors of compiling it.
    """
    if module:
        return _module(name, arguments)
    if name == "-":
        return _input(arguments)
    path = os.path.abspath(name)
    if get_importer(path) is not None:  # a folder or a zip file
        return _folder(name, path, arguments)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        problem = f"[Errno {error.errno}] {error.strerror}"
        raise Missing(f"can't open file {path!r}: {problem}", 2) from None
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    code = compile(source, path, "exec", dont_inherit=True)
    loader = SourceFileLoader("__main__", path)
    return Script(code, (name, *arguments), _main_globals(path, loader))


@cache
def standard_input() -> bytes:
    """The whole standard input, read once."""
    return sys.stdin.buffer.read()


def _input(arguments: tuple[str, ...]) -> Script:
    """Return the script that is piped into `python -`."""
    _set_first_path("")
    source = standard_input()
    code = compile(source, "<stdin>", "exec", dont_inherit=True)
    lines = io.TextIOWrapper(io.BytesIO(source), encoding="utf-8", errors="replace").readlines()
    linecache.cache["<stdin>"] = (len(source), None, lines, "<stdin>")  # for reports on its lines
    return Script(code, ("-", *arguments), _main_globals("<stdin>", BuiltinImporter))


def _folder(name: str, path: str, arguments: tuple[str, ...]) -> Script:
    """Return the `__main__` of a folder or a zip file."""
    _set_first_path(path)
    importer = get_importer(path)
    spec = importer.find_spec("__main__", None) if importer is not None else None
    if spec is None:
        raise Missing(f"can't find '__main__' module in {path!r}", 1)
    return _from_spec(spec, (name, *arguments))


def _module(name: str, arguments: tuple[str, ...]) -> Script:
    """Return the script of `python -m name`: the module, or the `__main__` of the package."""
    _set_first_path(os.getcwd())
    sys.argv[:] = ["-m", *arguments]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            package, spec = name, importlib.util.find_spec(name + ".__main__")
            if spec is None:
                text = f"No module named {package}.__main__; {package!r} is a package"
                raise Missing(f"{text} and cannot be directly executed", 1)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        text = f"Error while finding module specification for {name!r} "
        raise Missing(f"{text}(ModuleNotFoundError: {error})", 1) from None
    if spec is None:
        raise Missing(f"No module named {name}", 1)
    return _from_spec(spec, (str(spec.origin), *arguments))


def _from_spec(spec: ModuleSpec, arguments: tuple[str, ...]) -> Script:
    code = getattr(spec.loader, "get_code", lambda name: None)(spec.name)
    if code is None:
        raise Missing(f"No code object available for {spec.name}", 1)
    namespace = _main_globals(str(spec.origin), spec.loader)
    namespace |= {"__spec__": spec, "__package__": spec.parent, "__cached__": spec.cached}
    return Script(code, arguments, namespace)


def _main_globals(path: str, loader: object) -> dict[str, Any]:
    """Return the globals of a script before its first line."""
    namespace: dict[str, Any] = {"__file__": path, "__loader__": loader}
    namespace["__builtins__"] = builtins  # the module; outside `__main__` it is its dict
    if sys.version_info < (3, 14):  # later versions make them on first access
        namespace["__annotations__"] = {}
    if sys.version_info < (3, 15):
        namespace["__cached__"] = None
    return namespace


def _set_first_path(folder: str) -> None:
    """Put `folder` first on `sys.path`, where Python puts a script's folder."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def report(error: BaseException) -> int:
    """Print an uncaught exception, as the interpreter does, and return the exit status."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__package__") in MACHINERY:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    sys.excepthook(type(error), error, trace)
    if isinstance(error, KeyboardInterrupt):
        # It is printed once; the interpreter then ends the process as a shell expects.
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    return 1
