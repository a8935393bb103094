"""Cutting and running: from nodes whose values are wanted to leaves.

Data flow: wanted nodes → everything live in this thread → `cut` → cache entry → interpret, or
compile and run → settle. Invariants:
- Nodes settle only after the whole program has run; a failure or Ctrl-C before leaves them pending.
- Every live pending cell of the thread is an output, and so is every pending node that somebody
  else than the graph holds: nothing is computed twice, and no node is left behind that needs a
  buffer which the program overwrote.
- A parameter's buffer is donated only if nothing but this program's nodes refers to its leaf.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final

import numpy as np

from lazytensor.core import disk, failures, metrics
from lazytensor.core.backend import backend, is_host, on_host
from lazytensor.core.cache import Entry, cache
from lazytensor.core.failures import Failure
from lazytensor.core.interpret import apply, interpret
from lazytensor.core.cell import ELEMENTS_BOUND
from lazytensor.core.node import Node, nodes_made
from lazytensor.core.place import Place, user_stack
from lazytensor.core.program import Cut, cut, reachable
from lazytensor.core.recorder import recorder
from lazytensor.core.slots import Packed, pack

_operands_of = attrgetter("operands")
_lock: Final = threading.RLock()
FARTHEST: Final = 2
"""An automatic cut waits for its anchor until this many times the usual work is pending."""
MOST_NODES: Final = 4000
"""Pending nodes, scalars included, past which the graph is cut wherever the program is."""


def sync(*nodes: Node) -> None:
    """Compute every pending cell of this thread, and `nodes`."""
    with _lock:
        wanted = [node for node in nodes if node.value is None]
        live = _live(wanted)
        if not live:
            return
        recorder.busy = True
        try:
            _compute(live)
        except Exception:
            # One failing graph must not make every later cut fail: cells not computed now are
            # computed when somebody asks for them.
            recorder.cells.clear()
            if not wanted or len(wanted) == len(live):
                raise
            _compute(_pending(wanted))
        finally:
            recorder.busy = False
            recorder.work = 0
            recorder.serial = nodes_made()
            recorder.cells = [r for r in recorder.cells if _is_pending(r())]
    for node in nodes:
        if node.value.__class__ is Failure:
            node.value.throw()


def observe(node: Node) -> np.ndarray:
    """The value on the host, not to be written to; computed now if it is pending."""
    if node.value is None or node.value.__class__ is Failure:
        sync(node)
    return np.asarray(node.value) if node.op.name == "slot" else on_host(node.value)


def fetch(node: Node) -> np.ndarray:
    """The value on the host, in an array of the caller's own."""
    if node.value is None or node.value.__class__ is Failure:
        sync(node)
    value = node.value
    if is_host(value):
        return np.array(value)
    return backend().to_host(value)


def cut_if_aligned() -> None:
    """Cut if this point of the user's program is where the last automatic cut was made.

    Where that point does not come back in time, cut at the next loop's head instead, and remember
    that: a Python loop is then cut once every k whole iterations. `recorder.stride` is how much
    work there was between the last two automatic cuts.
    """
    if recorder.busy:
        return
    here = user_stack()
    patience = FARTHEST * max(recorder.stride, ELEMENTS_BOUND)
    lost = recorder.anchor is None or recorder.work > patience
    endless = nodes_made() - recorder.serial > MOST_NODES
    anchor = recorder.anchor
    loop = here[: _loop_depth(here)] if lost or endless else ()
    if loop or endless or (anchor is not None and here[: len(anchor)] == anchor):
        if loop or endless:
            recorder.anchor = loop or here
        recorder.stride = recorder.work
        metrics.count("automatic_cuts")
        sync()
        recorder.previous = ()
    else:
        recorder.previous = here


def _loop_depth(here: tuple[Place, ...]) -> int:
    """If the program went backwards since last time: how many frames, innermost first, that took.

    The last of them is the loop's own; what called it does not matter, so that a second call of
    the same loop finds its programs again.
    """
    frames = zip(reversed(here), reversed(recorder.previous), strict=False)
    for outer, ((code, offset), (old_code, old_offset)) in enumerate(frames):
        if code is not old_code or offset != old_offset:
            return len(here) - outer if code is old_code and offset < old_offset else 0
    return 0


def _live(wanted: list[Node]) -> list[Node]:
    """The pending nodes of this thread's live cells, in the order they became so, and `wanted`."""
    cells = (r() for r in recorder.cells)
    nodes = [cell.node for cell in cells if cell is not None]
    return _pending([*nodes, *wanted])


def _pending(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in dict.fromkeys(nodes) if node.value is None]


def _is_pending(cell: Any) -> bool:
    return cell is not None and cell.node.value is None


def _compute(outputs: list[Node]) -> None:
    """Settle `outputs`, all pending."""
    while outputs:
        with metrics.timed("cutting"):
            nodes = reachable(outputs)
            edges = Counter(chain.from_iterable(map(_operands_of, nodes)))
            outputs += _held(nodes, edges, set(outputs))
            found = cut(nodes, outputs)
            del nodes
            if any(leaf.value.__class__ is Failure for leaf in found.leaves):
                outputs = failures.spread(found, outputs)
                continue
            owned = _owned(found.leaves, edges)
            packed = pack(found.program, found.slots)
            entry = cache.find(found.program, packed)
        metrics.count("cuts")
        if not _run(entry, found, outputs, packed, owned):
            _run_frontier(entry, found, outputs)
            outputs = _pending(outputs)
            continue
        return


def _held(nodes: list[Node], edges: Counter[Node], outputs: set[Node]) -> list[Node]:
    """Pending nodes, no outputs, that somebody else than the graph's own nodes refers to."""
    return [
        node
        for node in nodes
        if node not in outputs and sys.getrefcount(node) - edges[node] > _UNSHARED
    ]


def _owned(leaves: list[Node], edges: Counter[Node]) -> list[bool]:
    """Per leaf: whether nothing but the graph's nodes refers to it."""
    return [sys.getrefcount(leaf) - edges[leaf] <= _UNSHARED for leaf in leaves]


def _references_of_bookkeeping() -> int:
    """References that `_held` and `_owned` see to a node that only a graph's edge refers to."""
    from lazytensor.core.op import PARAMETER, element, tensor_type

    type = tensor_type(np.dtype(np.float32))
    user = Node(element, (Node(PARAMETER, (), (), type),), (0,), type)
    nodes = [*user.operands]
    edges = Counter(user.operands)
    return next(sys.getrefcount(node) - edges[node] for node in nodes)


_UNSHARED: Final = _references_of_bookkeeping()


def _run(
    entry: Entry, found: Cut, outputs: list[Node], packed: Packed, owned: list[bool]
) -> bool:
    """Run the program and settle; False if some of its instructions are better run by the host."""
    if entry.executable is None:
        wider = cache.superset(found.program)
        if wider is not None and not wider.history.observe(packed):
            return _execute(wider, found, outputs, packed, owned)
        if not entry.should_compile() and not disk.load(entry, owned):
            _interpret(entry, found, outputs)
            return True
        if entry.host is None:
            entry.host = _host_instructions(entry)
        if entry.host:
            return False
        if entry.executable is None and not disk.load(entry, owned, force=True):
            disk.compile_and_store(entry, owned)
    else:
        metrics.count("cache_hits")
    return _execute(entry, found, outputs, packed, owned)


def _interpret(entry: Entry, found: Cut, outputs: list[Node]) -> None:
    start = time.perf_counter()
    leaves = [on_host(leaf.value) for leaf in found.leaves]
    values = interpret(found.program, leaves, found.slots)
    entry.spent += time.perf_counter() - start
    metrics.seconds["interpreting"] += time.perf_counter() - start
    metrics.count("interpreted")
    _settle(found, outputs, found.program.outputs, values)


def _execute(
    entry: Entry, found: Cut, outputs: list[Node], packed: Packed, owned: list[bool]
) -> bool:
    executable = entry.executable
    assert executable is not None
    with metrics.timed("running"):
        donated = {position for position, _ in entry.donated}
        buffers = [
            _argument(leaf, i in donated and not owned[i]) for i, leaf in enumerate(found.leaves)
        ]
        device = backend()
        buffers += [device.to_device(a, owned=True) for a in entry.history.data(packed)]
        # One C call from the arguments to `results`: a Ctrl-C either comes before the program
        # runs, or finds its results there to settle, donated inputs being gone by then.
        results: list[Any] = []
        try:
            results.extend(map(executable, [buffers]))
            _settle(found, outputs, entry.program.outputs, results[0])
        except BaseException:
            if results:
                _settle(found, outputs, entry.program.outputs, results[0])
            raise
    entry.runs += 1
    return True


def _argument(leaf: Node, shared: bool) -> Any:
    """The leaf's device buffer; a copy of it if the program overwrites what others still need."""
    if is_host(leaf.value):
        leaf.value = backend().to_device(leaf.value, owned=True)
    return backend().copy(leaf.value) if shared else leaf.value


def _settle(
    found: Cut, outputs: list[Node], computed: tuple[int, ...], values: Sequence[Any]
) -> None:
    """Give the values, which are of the instructions `computed`, to the nodes."""
    by_index = dict(zip(computed, values, strict=False))
    failed = failures.failed(found, computed, values)
    for node, index in zip(outputs, found.program.outputs, strict=True):
        node.settle(failed.get(index, by_index[index]) if failed else by_index[index])
    if failed:
        failures.throw_first(found, failed)


def _host_instructions(entry: Entry) -> tuple[int, ...]:
    lines = entry.program.instructions
    device = backend()
    return tuple(
        i
        for i, (op, operands, attrs, _) in enumerate(lines)
        if device.runs_on_host(op, [lines[j][3] for j in operands], attrs)
    )


def _run_frontier(entry: Entry, found: Cut, outputs: list[Node]) -> None:
    """Compute what the host's instructions need, then those of them that have all they need.

    Everything that does not depend on them, and that somebody or something that does needs, is
    computed in one program first.
    """
    assert entry.host is not None
    after = set(entry.host)
    before: dict[Node, None] = {}
    for i, (_, operands, _, _) in enumerate(found.program.instructions):
        node = found.nodes[i]
        if node is None:
            continue
        if i in after or not after.isdisjoint(operands):
            after.add(i)
            before.update(
                (n, None) for j in operands if j not in after and (n := found.nodes[j]) is not None
            )
    before.update((n, None) for i in found.program.outputs if i not in after and (n := found.nodes[i]))
    _compute(_pending(list(before)))
    for i in entry.host:
        node = found.nodes[i]
        if node is not None and node.value is None and all(x.value is not None for x in node.operands):
            values = [observe(x) for x in node.operands]
            with metrics.timed("interpreting"), np.errstate(all="ignore"):
                node.settle(apply(node.op, values, node.attrs, node.type))
