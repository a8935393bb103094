"""What a function or model of a framework is, for recording its body from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core.ir.node import Node


class Framework(NamedTuple):
    """What is asked of a frontend.

    is_array: whether a value is an array of this framework. array: an array that shows a node.
    value_of: an array's value. from_host: an array with NumPy's values. is_model: whether a
    function is an object of this framework. model: what a function or model is in its eyes, or None
    if it has nothing of this framework. recording: in its block the framework records everything,
    as the body of a function.
    """

    is_array: Callable[[Any], bool]
    array: Callable[[Node], Any]
    value_of: Callable[[Any], np.ndarray]
    from_host: Callable[[np.ndarray], Any]
    is_model: Callable[[Any], bool]
    model: Callable[[Any], Model | None]
    recording: Callable[[], AbstractContextManager[None]]


class Model(NamedTuple):
    """A function or model with arrays of its own.

    bind: given the function, or what another framework made of it, what is called in its place.
    signature: that of the user's function. weights: the arrays by name, as they are now.
    """

    bind: Callable[[Callable[..., Any]], Callable[..., Any]]
    signature: Callable[..., Any]
    weights: Callable[[], Mapping[str, Node]]
