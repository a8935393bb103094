"""The inputs of a function's call: which are data, and which belong to the signature."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core.ir.node import Node
from lazytensor.frontends.tf.dispatch import fallback
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.rows.lists import LazyVariant
from lazytensor.frontends.tf.tensors.tensor import NUMPY, LazyTensor, node_of
from lazytensor.frontends.tf.tensors.variables import VariableCell, adopt, cell_of, is_handle

SMALL: Final = 16
"""Elements of an integer argument whose value may be part of a signature."""


class Unnamed(Exception):
    """An input that no signature can name: this call is walked.

    It is a variable without a value yet, or a value of a dtype that XLA lacks.
    """


class Given:
    """The inputs of a call: the nodes of those that are data, and how to remake all from these.

    A body depends on `key`.
    """

    __slots__ = ("forms", "handles", "key", "nodes", "places")

    def __init__(self, inputs: list[Any], static: bool) -> None:
        self.nodes: list[Node] = []
        self.handles: list[Any] = []
        self.places: dict[int, int] = {}
        self.forms = [self._form(x, static) for x in inputs]
        values = [cell_of(handle).node for handle in self.handles]  # type: ignore[union-attr]
        shape = tuple(form[:2] for form in self.forms)
        self.nodes += values
        self.key = (shape, tuple(node.type for node in self.nodes))

    def _form(self, x: Any, static: bool) -> tuple[Any, ...]:
        node = _data(x, static)
        if node is not None:
            self.nodes.append(node)
            return "data", None
        if type(x) is LazyVariant:
            if any(map(is_handle, x.items)):
                raise Unnamed
            parts = tuple(
                ("none", None) if item is None else self._form(item, static) for item in x.items
            )
            return "list", tuple(part[:2] for part in parts), parts, x
        if is_handle(x):
            return self._handle(x)
        return "host", host_value(x).key, x

    def _handle(self, x: Any) -> tuple[Any, ...]:
        place = self.places.get(id(x))
        if place is not None:
            return "handle", place, x
        if cell_of(x) is None:
            data = getattr(x, "_handle_data", None)
            if data is None or not data.is_set:
                return "host", id(x), x
            adopt(fallback.current(), x, data.shape_and_type[0].dtype)
        if cell_of(x) is None:
            raise Unnamed
        place = self.places[id(x)] = len(self.handles)
        self.handles.append(x)
        return "handle", place, x


def _data(x: Any, static: bool) -> Node | None:
    """The node of an input that is data; None for a list, a handle, or a value in the signature."""
    if type(x) is LazyTensor:
        return x.node
    if type(x) is LazyVariant or is_handle(x):
        return None
    if x._datatype_enum() not in NUMPY:
        raise Unnamed  # a variant, strings: the next one may be at the same address
    if static and x.dtype.is_integer | x.dtype.is_bool and x._num_elements() <= SMALL:
        return None
    return node_of(x)


class Places:
    """The positions of data and variables among a call's inputs, and the plan for such inputs.

    A step is called with the same variables each time: they need not be named again. An input that
    is not data has to be the same object as before. That keeps no handle alive: another object at
    the same address has a cell too, or is no handle. `held`: named inputs without a cell.
    """

    __slots__ = ("data", "handles", "held", "ids", "named", "plan", "types")

    def __init__(self, inputs: list[Any], given: Given, plan: Any) -> None:
        kinds = [form[0] for form in given.forms]
        self.held = [x for x, kind in zip(inputs, kinds, strict=True) if kind == "host"]
        self.plan = plan
        self.data = [i for i, kind in enumerate(kinds) if kind == "data"]
        self.named = [i for i, kind in enumerate(kinds) if kind != "data"]
        certain = "list" not in kinds and not any(map(is_handle, self.held))
        self.ids = [id(inputs[i]) for i in self.named] if certain else None
        first = {id(inputs[i]): i for i in reversed(self.named)}
        self.handles = [first[id(handle)] for handle in given.handles]
        self.types = [node.type for node in given.nodes]

    def nodes(self, inputs: list[Any], static: bool) -> list[Node] | None:
        """The nodes of a call's data; None if this is another kind of call."""
        if [id(inputs[i]) for i in self.named] != self.ids:
            return None
        data = [_data(inputs[i], static) for i in self.data]
        try:
            values = [inputs[i]._lazy_cell.node for i in self.handles]
        except AttributeError:  # a variable that TF has the value of
            return None
        nodes = [node for node in (*data, *values) if node is not None]  # fewer, if one is no data
        return nodes if [node.type for node in nodes] == self.types else None

    def cells(self, inputs: list[Any], which: tuple[int, ...]) -> list[VariableCell]:
        """The cells of some of the variables, which are counted without those met before."""
        return [inputs[self.handles[i]]._lazy_cell for i in which]
