"""Cells and views: mutation and aliasing, outside the immutable IR.

Data flow. A cell holds the current node of one user-visible buffer. A view is a chain of steps
over a cell. Reading a view replays the chain over the cell's current node; writing to it runs the
steps' writes backwards and gives the cell a new node.

Invariants:
- `read(write(base, v)) == v` and `write(base, read(base)) == base` for every view op.
- A cell whose node is pending is in its thread's recorder, so that a cut settles it.
- What a view reads is remembered on the cell, weakly, until the cell is written to: equal reads
  are one node, and a read kept in a graph never keeps an overwritten buffer alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple
from weakref import ref

import numpy as np

from lazytensor.core.node import Node, Signature
from lazytensor.core.op import Attrs, Op, starts
from lazytensor.core.recorder import thread
from lazytensor.core.types import TensorType, tensor_type

_S64 = np.dtype(np.int64)
Write = Callable[..., Node]
WRITES: dict[Op, Write] = {}
"""Per view op: `write(base, value, *data, **attrs)`, the base with its viewed part replaced."""

MERGES: dict[tuple[Op, Op], Callable[[Step, Step], Step]] = {}
"""Per pair of view ops: the one step that does what the two do, so that chains stay short."""

ELEMENTS_BOUND = 2**21
"""Pending work, in elements, past which the graph is cut by itself (see `types.NODE_WORK`)."""


class Form:
    """A view op with its static attributes, sorted by name. Made by `view_step`, which interns."""

    __slots__ = ("_signatures", "attrs", "keywords", "op")

    def __init__(self, op: Op, attrs: Attrs) -> None:
        self.op = op
        self.attrs = attrs
        self.keywords: dict[str, Any] = dict(attrs)
        self._signatures: dict[TensorType, Signature] = {}

    def at(self, base: TensorType, starts: tuple[int, ...] | None) -> Signature:
        """The op at a base of this type, and at starts if it takes them."""
        found = self._signatures.get(base)
        if found is None:
            types = (base,) if starts is None else (base, tensor_type(_S64, (len(starts),)))
            found = self._signatures[base] = self.op.signature(types, self.keywords)
        return found


class Step(NamedTuple):
    """One view op: `starts`, if it takes them, enter a program as slots."""

    form: Form
    starts: tuple[int, ...] | None

    @property
    def op(self) -> Op:
        """The view op."""
        return self.form.op

    @property
    def keywords(self) -> dict[str, Any]:
        """The static attributes."""
        return self.form.keywords

    def signature(self, base: TensorType) -> Signature:
        """The op at a base of this type."""
        return self.form.at(base, self.starts)

    def read(self, base: Node) -> Node:
        """The view of `base`."""
        values = self.starts
        operands = (base,) if values is None else (base, starts(values))
        return Node(self.form.at(base.type, values), operands)

    def write(self, base: Node, value: Node) -> Node:
        """`base` with what the view shows replaced by `value`."""
        form, values = self.form, self.starts
        write = WRITES[form.op]
        if values is None:
            return write(base, value, **form.keywords)
        return write(base, value, starts(values), **form.keywords)


_forms: dict[tuple[Op, Attrs], Form] = {}
_FORMS_BOUND: Final = 50_000


def view_step(op: Op, starts: tuple[int, ...] | None = None, **attrs: Any) -> Step:
    """The step of a view op. Equal ones compare equal, by the identity of their form."""
    key = op, tuple(sorted(attrs.items()))
    form = _forms.get(key)
    if form is None:
        if len(_forms) > _FORMS_BOUND:
            _forms.clear()  # steps made before are no longer equal to new ones: reads happen twice
        form = _forms.setdefault(key, Form(*key))
    return Step(form, starts)


Chain = tuple[Step, ...]


class Cell:
    """What a user's array holds: a node that is replaced when the array is written to."""

    __slots__ = ("__weakref__", "node", "reads")

    chain: Chain = ()

    def __init__(self, node: Node) -> None:
        recorder = thread.recorder
        if recorder.work > ELEMENTS_BOUND:  # before this node is anybody's: it is the next graph's
            overflow()
        self.node = node
        self.reads: dict[Chain, ref[Node]] | None = None
        if node.value is None:
            recorder.cells.append(ref(self))

    @property
    def cell(self) -> Cell:
        """The cell that holds the data: itself."""
        return self

    @property
    def type(self) -> TensorType:
        """Type of the data."""
        return self.node.type

    def write(self, node: Node) -> None:
        """Replace the data; `node` must be of the cell's type."""
        recorder = thread.recorder
        if recorder.work > ELEMENTS_BOUND:
            overflow()
        was_pending = self.node.value is None
        self.node = node
        self.reads = None
        if not was_pending and node.value is None:
            recorder.cells.append(ref(self))

    def known(self) -> np.ndarray | None:
        """The data, if the host has it already; not to be written to."""
        value = self.node.value
        return value if isinstance(value, np.ndarray) else None

    def view(self, *steps: Step) -> Cell | View:
        """A view through `steps`."""
        chain = extend((), steps)
        return View(self, chain) if chain else self


class View:
    """A chain of steps over a cell. `node` is what it shows now."""

    __slots__ = ("cell", "chain", "type")

    def __init__(self, cell: Cell, chain: Chain, type: TensorType | None = None) -> None:
        self.cell = cell
        self.chain = chain
        if type is None:
            type = cell.type
            for step in chain:
                type = step.signature(type).type
        self.type = type

    @property
    def node(self) -> Node:
        """The current value, read through the chain; equal reads of one version are one node."""
        return _read(self.cell, self.chain)

    def known(self) -> np.ndarray | None:
        """What it shows, if the host has the cell's data already; not to be written to."""
        from lazytensor.core.interpret import apply

        value, type = self.cell.known(), self.cell.type
        for step in self.chain if value is not None else ():
            signature = step.signature(type)
            type = signature.type
            data = [] if step.starts is None else [np.array(step.starts, _S64)]
            value = apply(step.op, [value, *data], signature.attrs, type)
        return value

    def write(self, node: Node) -> None:
        """Write `node`, of the view's type, through to the cell."""
        cell, chain = self.cell, self.chain
        for i in range(len(chain) - 1, -1, -1):
            node = chain[i].write(_read(cell, chain[:i]), node)
        cell.write(node)

    def view(self, *steps: Step) -> View:
        """A view of this view."""
        return View(self.cell, extend(self.chain, steps))


def _read(cell: Cell, chain: Chain) -> Node:
    if not chain:
        return cell.node
    reads = cell.reads
    if reads is None:
        reads = cell.reads = {}
    elif chain in reads and (known := reads[chain]()) is not None:
        return known
    node = cell.node
    for i in range(1, len(chain) + 1):
        shorter = chain[:i]
        read = reads.get(shorter)
        found = None if read is None else read()
        if found is None:
            found = chain[i - 1].read(node)
            reads[shorter] = ref(found)
        node = found
    return node


def extend(chain: Chain, steps: Chain) -> Chain:
    """`chain` followed by `steps`, neighbours merged where their ops have a rule for it."""
    for step in steps:
        while chain:
            merge = MERGES.get((chain[-1].op, step.op))
            if merge is None:
                break
            chain, step = chain[:-1], merge(chain[-1], step)
        chain = (*chain, step)
    return chain


def overflow() -> None:
    """Too much is pending: let the runtime decide whether to cut here."""
    from lazytensor.core.alignment import cut_if_aligned

    cut_if_aligned()
