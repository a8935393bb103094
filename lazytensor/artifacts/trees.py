"""Nested tuples, lists and dicts of arrays: their form as JSON, and their arrays in order.

A form is `"array"`, `{"tuple": [form, …]}`, `{"list": [form, …]}`, `{"dict": {name: form, …}}` or
`{"constant": number, text or null}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

ARRAY: Final = "array"
DEPTH_BOUND: Final = 100
"""How deeply forms may be nested."""
Form = Any
IsArray = Callable[[Any], bool]


def form_of(value: Any, is_array: IsArray) -> Form:
    """The form of a value. Raises: TypeError for an object of another kind."""
    if is_array(value):
        return ARRAY
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"a dict's keys must be text, got {name!r}")
        return {"dict": {name: form_of(x, is_array) for name, x in value.items()}}
    if isinstance(value, tuple | list):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [form_of(x, is_array) for x in value]}
    if value is None or isinstance(value, bool | int | float | str):
        return {"constant": value}
    kind = type(value).__name__
    raise TypeError(f"arrays, numbers, and tuples, lists and dicts of them are taken, got {kind}")


def arrays_in(value: Any, is_array: IsArray, path: str) -> Iterator[tuple[str, Any]]:
    """The arrays in a value, each with its path: `x`, `x.0`, `x.name`."""
    if is_array(value):
        yield path, value
    elif isinstance(value, Mapping):
        for name, x in value.items():
            yield from arrays_in(x, is_array, _joined(path, name))
    elif isinstance(value, tuple | list):
        for i, x in enumerate(value):
            yield from arrays_in(x, is_array, _joined(path, i))


def replaced(value: Any, is_array: IsArray, arrays: Iterator[Any]) -> Any:
    """The value with other arrays in the places of its own."""
    if is_array(value):
        return next(arrays)
    if isinstance(value, Mapping):
        return {name: replaced(x, is_array, arrays) for name, x in value.items()}
    if isinstance(value, tuple | list):
        found = [replaced(x, is_array, arrays) for x in value]
        if isinstance(value, list):
            return found
        return type(value)(*found) if hasattr(value, "_fields") else tuple(found)
    return value


def built(form: Form, arrays: Iterator[Any]) -> Any:
    """The value that has this form, with these arrays."""
    if form == ARRAY:
        return next(arrays)
    ((kind, inner),) = form.items()
    if kind == "dict":
        return {name: built(x, arrays) for name, x in inner.items()}
    if kind == "constant":
        return inner
    found = [built(x, arrays) for x in inner]
    return found if kind == "list" else tuple(found)


def arrays_of(form: Form, value: Any, path: str) -> Iterator[Any]:
    """The arrays of a value that must have this form. Raises: TypeError, naming the path."""
    if form == ARRAY:
        yield value
        return
    ((kind, inner),) = form.items()
    if kind == "constant":
        if value != inner:
            raise TypeError(f"{path}: it is fixed as {inner!r} in this program, got {value!r}")
    elif kind == "dict":
        if not isinstance(value, Mapping) or value.keys() != inner.keys():
            raise TypeError(f"{path}: a dict of {', '.join(inner)} was expected, got {value!r:.80}")
        for name, x in inner.items():
            yield from arrays_of(x, value[name], _joined(path, name))
    else:
        if not isinstance(value, tuple | list) or len(value) != len(inner):
            raise TypeError(f"{path}: {len(inner)} values were expected, got {value!r:.80}")
        for i, x in enumerate(inner):
            yield from arrays_of(x, value[i], _joined(path, i))


def count(form: Form, depth: int = 0) -> int:
    """How many arrays a form has. Raises: ValueError if it is no form."""
    if form == ARRAY:
        return 1
    if depth > DEPTH_BOUND or not isinstance(form, dict) or len(form) != 1:
        raise ValueError(f"{form!r:.80} says no form of arguments or results")
    ((kind, inner),) = form.items()
    if kind == "constant" and (inner is None or isinstance(inner, bool | int | float | str)):
        return 0
    if kind == "dict" and isinstance(inner, dict):
        return sum(count(x, depth + 1) for x in inner.values())
    if kind in ("list", "tuple") and isinstance(inner, list):
        return sum(count(x, depth + 1) for x in inner)
    raise ValueError(f"{form!r:.80} says no form of arguments or results")


def _joined(path: str, part: object) -> str:
    return f"{path}.{part}" if path else str(part)
