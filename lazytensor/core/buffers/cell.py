"""Cells and views: mutation and aliasing, outside the immutable IR.

Data flow. A cell holds the current node of one user-visible buffer. A view is a chain of steps
over a cell. Reading a view replays the chain over the cell's current node; writing to it runs the
steps' writes backwards and gives the cell a new node.

Invariants:
- `read(write(base, v)) == v` and `write(base, read(base)) == base` for every view op.
- A cell whose node is pending is in its thread's recorder, so that a cut settles it.
- Threads may write to parts of one array: `writing` is held from a look at what a cell holds to the
  write that follows from it. A thread that may cut meanwhile takes the runtime's lock first.
- What a view reads is remembered on the cell, weakly, until the cell is written to: equal reads
  are one node, and a read kept in a graph never keeps an overwritten buffer alive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakValueDictionary, ref

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, signature_of, starts
from lazytensor.core.ir.pending import Listed
from lazytensor.core.ir.recording import Signature, here, record, weak
from lazytensor.core.ir.trace_state import Recorder, with_room
from lazytensor.core.ir.types import TensorType
from lazytensor.core.settings import settings

_S64 = np.dtype(np.int64)
Write = Callable[..., Node]
WRITES: dict[Op[Any], Write] = {}
"""Per view op: `write(base, value, *data, **attrs)`, the base with its viewed part replaced."""
Show = Callable[[np.ndarray], np.ndarray]
SHOWS: dict[Op[Any], Callable[..., Show]] = {}
"""Per view op: `show(*data, **attrs)`, a function that gives the view of an array of the host's: in
its memory, where NumPy has such views."""

MERGES: dict[tuple[Op, Op], Callable[[ViewStep, ViewStep], ViewStep]] = {}
"""Per pair of view ops: the one step that does what the two do, so that chains stay short."""

writing: Final = threading.RLock()


class ViewStep:
    """One view op: `starts` enter a program as slots, `attrs` are static and sorted by name.

    Equal steps are one object, so that chains of them are compared and hashed by identity. `data`
    are the operands after the base, one at most. What reading and writing record is kept by type,
    as a view in a loop is read every time round: `reads` by the base's; `writes` by the base's and
    the value's, None where the value is all there is.
    """

    __slots__ = ("__weakref__", "_shown", "attrs", "data", "op", "reads", "starts", "writes")

    def __init__(
        self, op: Op, starts_: tuple[int, ...] | None, attrs: tuple[tuple[str, Any], ...]
    ) -> None:
        self.op = op
        self.starts = starts_
        self.attrs = attrs
        self.data: tuple[Node, ...] = () if starts_ is None else (starts(starts_),)
        self._shown: Show | None = None
        self.reads: dict[TensorType, Signature] = {}
        self.writes: dict[tuple[TensorType, TensorType], Signature | None] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return view_step, (self.op, self.starts, self.attrs)

    def signature(self, base: TensorType) -> Signature:
        """The op at a base of this type."""
        found = self.reads.get(base)
        if found is None:
            types = (base, *[node.type for node in self.data])
            found = self.reads[base] = self.op.signature(types, dict(self.attrs))
        return found

    def read(self, base: Node) -> Node:
        """The view of `base`."""
        signature = self.reads.get(base.type) or self.signature(base.type)
        return record(signature, (base, self.data[0]) if self.data else (base,))

    def show(self, base: np.ndarray) -> np.ndarray:
        """The view of an array of the host's: in its memory, where NumPy has such views."""
        if self._shown is None:
            data = [np.array(node.value, _S64) for node in self.data]
            self._shown = SHOWS[self.op](*data, **dict(self.attrs))
        return self._shown(base)

    def write(self, base: Node, value: Node) -> Node:
        """`base` with what the view shows replaced by `value`."""
        key = base.type, value.type
        signature = self.writes.get(key)
        if signature is not None:
            data = self.data
            return record(signature, (base, value, data[0]) if data else (base, value))
        if key in self.writes:
            return value
        made = WRITES[self.op](base, value, *self.data, **dict(self.attrs))
        if made is value:
            self.writes[key] = None
        elif made.operands == (base, value, *self.data):
            self.writes[key] = signature_of(made)
        return made


_steps: Final[WeakValueDictionary[tuple[Any, ...], ViewStep]] = WeakValueDictionary()


def view_step(
    op: Op, starts: tuple[int, ...] | None, attrs: tuple[tuple[str, Any], ...]
) -> ViewStep:
    """The one step that does this."""
    key = (op, starts, attrs)
    found = _steps.get(key)
    if found is None:
        found = _steps[key] = ViewStep(op, starts, attrs)
    return found


Chain = tuple[ViewStep, ...]


class Watcher:
    """Counts what is done to small parts of a cell; `node` is what it held after the last."""

    __slots__ = ("node",)

    node: Node | None


class Cell(Listed):
    """What a user's array holds: a node that is replaced when the array is written to.

    `memory` is set while a frontend lends it: the value of the node. While the node is
    pending, the `recorder` of the thread that wrote it last knows of the cell. `watcher`, a
    `Watcher` or None, is told of small writes through views.
    """

    __slots__ = ("memory", "reads", "recorder", "watcher")

    memory: np.ndarray
    watcher: Any

    chain: Chain = ()

    reads: dict[Chain, ref[Node]] | None
    recorder: Recorder

    def __init__(self, node: Node) -> None:
        enter(self, node)

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
        with_room()
        put(self, node)

    def write_part(self, chain: Chain, node: Node) -> None:
        """Replace what `chain` shows."""
        with writing:
            if type(self) is Cell:
                put(self, written(self, chain, node))
                return
        self.write_part(chain, node)  # it was lent a moment ago

    def tell(self) -> None:
        """Tell the cell's watcher that a small part of it was written to."""
        if self.watcher is not None:
            self.watcher.node = self.node if type(self) is Cell else None

    def known(self) -> np.ndarray | None:
        """The data, if the host has it already; not to be written to."""
        value = self.node.value
        return value if isinstance(value, np.ndarray) else None

    def view(self, *steps: ViewStep) -> Cell | View:
        """A view through `steps`."""
        return view_through(self, steps)


def enter(cell: Cell, node: Node) -> None:
    """Have a new cell hold a node."""
    recorder = with_room()
    cell.node = node
    cell.reads = None
    cell.recorder = recorder
    cell.watcher = None
    if node.value is None:
        recorder.cells.add(cell)


def put(cell: Cell, node: Node) -> None:
    """`cell.write(node)`, where it is not the time to cut."""
    recorder = here()
    is_known = cell.node.value is None and cell.recorder is recorder
    cell.node = node
    cell.reads = None
    if not is_known and node.value is None:
        cell.recorder = recorder
        recorder.cells.add(cell)


def write_through(cell: Cell, chain: Chain, node: Node) -> None:
    """`write_part` for the user's writes, after which a cut may follow; it tells small ones."""
    with_room()
    with writing:
        is_plain = type(cell) is Cell
        if is_plain:
            put(cell, written(cell, chain, node))
    if not is_plain:
        cell.write_part(chain, node)
    if cell.watcher is not None and node.type.size < settings.small:
        cell.tell()


class View:
    """A chain of steps over a cell, made by `view_of`. `node` is what it shows now."""

    __slots__ = ("cell", "chain", "type")

    cell: Cell
    chain: Chain
    type: TensorType

    @property
    def node(self) -> Node:
        """The current value, read through the chain; equal reads of one version are one node."""
        return read(self.cell, self.chain)

    def known(self) -> np.ndarray | None:
        """What it shows, if the host has the cell's data already; for a look at once."""
        value = self.cell.known()
        return None if value is None else shown(value, self.chain)

    def write(self, node: Node) -> None:
        """Write `node`, of the view's type, through to the cell."""
        write_through(self.cell, self.chain, node)

    def view(self, *steps: ViewStep) -> Cell | View:
        """A view of this view."""
        return view_through(self, steps)


def view_of(cell: Cell, chain: Chain, type_: TensorType | None = None) -> View:
    """A view of a cell. `type_`: the type of its elements, if it is known."""
    made = View.__new__(View)  # compiled, this takes half as long as a call of the class
    made.cell = cell
    made.chain = chain
    if type_ is None:
        type_ = cell.type
        for step in chain:
            type_ = step.signature(type_).type
    made.type = type_
    return made


def view_through(ref: Cell | View, steps: Chain, type_: TensorType | None = None) -> Cell | View:
    """Take a view of `ref` through `steps`. `type_`: the type of its elements, if it is known."""
    if not steps:
        return ref
    if type(ref) is View:
        view = ref
        return view_of(view.cell, extend(view.chain, steps), type_)
    return view_of(ref.cell, steps if len(steps) == 1 else extend((), steps), type_)


def shown(memory: np.ndarray, chain: Chain) -> np.ndarray:
    """What `chain` shows of an array of the host's: in its memory, where NumPy has such views."""
    for step in chain:
        memory = step.show(memory)
    return memory


def written(cell: Cell, chain: Chain, node: Node) -> Node:
    """What the cell holds with what `chain` shows replaced by `node`."""
    if not chain:
        return node
    for i in range(len(chain) - 1, 0, -1):
        node = chain[i].write(read(cell, chain[:i]), node)
    step = chain[0]
    return step.write(cell.node, node)


def read(cell: Cell, chain: Chain) -> Node:
    """What `chain` shows of a cell; equal reads of one version are one node."""
    if not chain:
        return cell.node
    if type(cell) is Cell:
        plain = cell
        node, reads = plain.node, plain.reads
        if reads is None:
            reads = plain.reads = {}
    else:  # lent, whose reads are not remembered
        node, reads = cell.node, {}
    known = reads.get(chain)
    found = known() if known is not None else None
    if found is not None:
        return found
    if len(chain) == 1:  # by far the most; a call less to look for the user's place behind
        step = chain[0]
        signature = step.reads.get(node.type) or step.signature(node.type)
        node = record(signature, (node, step.data[0]) if step.data else (node,))
        reads[chain] = weak(node)
        return node
    for i in range(1, len(chain) + 1):
        known = reads.get(chain[:i])
        shorter = known() if known is not None else None
        if shorter is None:
            node = chain[i - 1].read(node)
            reads[chain[:i]] = weak(node)
        else:
            node = shorter
    return node


_extended: Final[dict[tuple[Chain, Chain], Chain]] = {}
_EXTENDED_BOUND: Final = 4096


def extend(chain: Chain, steps: Chain) -> Chain:
    """`chain` followed by `steps`, neighbours merged where their ops have a rule for it."""
    found = _extended.get((chain, steps))
    if found is None:
        if len(_extended) >= _EXTENDED_BOUND:
            _extended.clear()
        found = _extended[chain, steps] = _merged(chain, steps)
    return found


def _merged(chain: Chain, steps: Chain) -> Chain:
    for step in steps:
        while chain:
            merge = MERGES.get((chain[-1].op, step.op))
            if merge is None:
                break
            chain, step = chain[:-1], merge(chain[-1], step)
        chain = (*chain, step)
    return chain
