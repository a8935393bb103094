"""The methods of ufuncs: reduce, accumulate, reduceat, outer, at."""

from __future__ import annotations

from typing import Any


def reduce(ufunc: Any, array: Any, *args: Any, **kwargs: Any) -> Any: raise NotImplementedError
def accumulate(ufunc: Any, array: Any, *args: Any, **kwargs: Any) -> Any: raise NotImplementedError
def reduceat(ufunc: Any, *args: Any, **kwargs: Any) -> Any: raise NotImplementedError
def outer(ufunc: Any, A: Any, B: Any, **kwargs: Any) -> Any: raise NotImplementedError
def at(ufunc: Any, *args: Any) -> None: raise NotImplementedError
