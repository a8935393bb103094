"""Cutting: from nodes whose values are wanted to leaves.

Data flow: wanted nodes → everything live in this thread → numbered graph → cache entry, by the
graph's key → `executor.run` (interpret, or compile and run) → settle. Invariants:
- Nodes settle only after the whole program has run; a failure or Ctrl-C before leaves them pending.
- Every live pending cell of the thread is an output, and so is every pending node that somebody
  else than the graph holds: nothing is computed twice, and no node is left behind that needs a
  buffer which the program overwrote.
- A parameter's buffer is donated only if nothing but this program's nodes refers to its leaf.
- Threads cut one at a time; what another one is computing is waited for (see `locking.py`).
- No garbage is collected during a cut: a finalizer's cut would settle nodes of this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from threading import get_ident
from time import perf_counter
from typing import Final
from weakref import WeakSet

import numpy as np

from lazytensor.core import ops
from lazytensor.core.device import garbage, host_memory
from lazytensor.core.device.backend import backend, is_host, on_host
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.errors import NoValue
from lazytensor.core.ir.graph import NumberedGraph, numbered, reachable
from lazytensor.core.ir.node import Node, TupleNode
from lazytensor.core.ir.op import elements
from lazytensor.core.ir.program import SLOTS, Cut, Program, program_of
from lazytensor.core.ir.recording import here, nodes_made, user_place
from lazytensor.core.ir.sharding import replicated
from lazytensor.core.ir.trace_state import Recorder
from lazytensor.core.observe import metrics
from lazytensor.core.passes.specialize import pack
from lazytensor.core.policy import PROGRAM_NODES_BOUND
from lazytensor.core.runtime import executor, guards, locking, replay_program, sharded
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.locking import lock
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.run import Request, Run
from lazytensor.core.runtime.settling import attend, deferred

_operands_of = attrgetter("operands")
_by_serial = attrgetter("serial")
AUTOMATIC: Final = "automatic cut"
_OBSERVATION: Final = Request("observation")


def sync(
    *nodes: Node,
    cause: str = "sync()",
    largest: int = 0,
    alone: bool = False,
    once: bool = False,
    compiles: bool = False,
    runs: list[Run] | None = None,
    defers: bool = False,
) -> None:
    """Compute every pending cell of this thread, and `nodes`.

    `largest`: nodes of one program, if more than `PROGRAM_NODES_BOUND`: for graphs that come again
    and again. `alone`: `nodes` and what they need only. `once`: the graph will not come again, so
    that it is interpreted. `compiles`: what has no executable gets one now. `runs`: gets what was
    run. `defers`: nobody waits for the values, which may be given to the nodes later.
    """
    _sync(nodes, Request(cause, largest, once, compiles, runs, defers), alone)


def _sync(nodes: tuple[Node, ...], request: Request, alone: bool) -> None:
    """Do what `sync` says."""
    recorder = here()
    if recorder.tracing:
        raise NoValue(f"{request.cause}: there are no values in the body of a composite")
    if deferred:
        attend()
    with lock:
        only = _only(recorder, nodes) if nodes or not alone else None
        if only is not None:
            live = [only]
            wanted = live if nodes else []
        else:
            wanted = _pending(nodes)
            live = wanted if alone else _live(wanted)
        recorder.busy += 1
        garbage.pause()  # a finalizer's cut would settle nodes of this one
        try:
            if not _computes(live, wanted, request):
                again = Request(request.cause, once=request.once, compiles=request.compiles)
                _compute(_pending(wanted), again)
        except BaseException:
            locking.resume()
            raise
        finally:
            garbage.go_on()
            recorder.busy -= 1
            recorder.work = 0
            recorder.fuses = True
            recorder.serial = made = nodes_made() if only is None else only.serial + 1
            if request.cause != AUTOMATIC:
                _note_span(recorder, made)
            recorder.cells.keep_pending()
    for node in nodes:
        if type(node.value) is Failure:
            node.value.throw()


def _computes(live: list[Node], wanted: list[Node], request: Request) -> bool:
    """Compute `live`; say whether that did not fail, or raise if `wanted` is what failed.

    One failing graph must not make every later cut fail: what is not computed now is computed when
    somebody asks for it. Whoever tries again does so when the failure is gone: its frames refer to
    nodes, all of which would become outputs.
    """
    try:
        _compute(live, request)
    except Exception:
        recorder = here()
        recorder.refused = WeakSet([*(recorder.refused or ()), *_pending(live)])
        # A guard that failed has settled everything: nobody would hear of it later.
        if len(wanted) == len(live) or not _pending(wanted):
            raise
        return False
    return True


def _only(recorder: Recorder, nodes: Sequence[Node]) -> Node | None:
    """The one pending node that there is, and that is asked for if one is; None if there are more.

    So it is by far most often where single operations are waited for.
    """
    if len(nodes) > 1 or recorder.refused is not None or len(recorder.cells) != 1:
        return None
    pending = recorder.cells.nodes()
    if len(pending) != 1 or (nodes and nodes[0] is not pending[0]):
        return None
    return pending[0]


def _note_span(recorder: Recorder, made: int) -> None:
    """Note that a value was requested. made: the number of nodes until then."""
    span = made - recorder.asked
    if abs(span - recorder.span) <= span // 8:
        recorder.steady = span
    recorder.span, recorder.asked = span, made


def observe(node: Node) -> np.ndarray:
    """The value on the host, not to be written to; computed now if it is pending."""
    seen = _observed(node)
    if seen is not node.value and seen.flags.writeable:  # a copy from the device's memory
        seen.flags.writeable = False
    return seen


def _observed(node: Node) -> np.ndarray:
    """The value on the host, or a fresh copy of it; computed now if it is pending."""
    if node.op in SLOTS:
        return np.asarray(node.value, node.type.dtype)
    if deferred and node.value is None:
        attend()  # which may be all that it takes
    if node.value is None or type(node.value) is Failure:
        seen = sharded.seen(node) if sharded.used else None
        if seen is not None:
            return seen
        _sync((node,), _OBSERVATION, alone=False)
    if type(node.value) is np.ndarray:
        return node.value  # the most frequent case
    if sharded.is_elsewhere(node.value):
        node = _everywhere(node)
    if is_host(node.value):
        return np.asarray(node.value)
    with metrics.timed("transferring"):
        return on_host(node.value)


def _everywhere(node: Node) -> Node:
    """The value of a node, gathered by an exchange that every process takes part in."""
    whole = replicated(node.value.sharding.mesh, node.type.ndim)
    made = ops.sharding_constraint(node, sharding=whole)
    _sync((made,), _OBSERVATION, alone=True)
    return made


def fetch(node: Node) -> np.ndarray:
    """The value on the host, in an array of the caller's own."""
    view = _observed(node)
    if view.flags.writeable and view is not node.value:
        return view
    if is_host(node.value) or type(node.value) is Sharded:
        return np.array(view)
    return backend().to_host(node.value)


def _live(wanted: list[Node]) -> list[Node]:
    """The pending nodes of this thread's live cells, in the order they became so, and `wanted`."""
    recorder = here()
    found = recorder.cells.nodes()
    if recorder.refused is not None:
        found = [node for node in found if node not in recorder.refused]
    return list(dict.fromkeys(found + wanted)) if wanted else found


def _pending(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in dict.fromkeys(nodes) if node.value is None]


def _compute(outputs: list[Node], request: Request) -> None:
    """Settle `outputs`, in one program if that is small enough."""
    failure = None
    while outputs := [node for node in outputs if node.value is None]:
        waits = False
        try:
            failure = _compute_next(outputs, request) or failure
        except locking.Elsewhere:
            waits = True  # not here, where the frames that it was raised in hold nodes
        if waits:
            locking.wait()
        if deferred and get_ident() in deferred:
            break
    if failure is not None:
        failure.throw()


def _compute_next(outputs: list[Node], request: Request) -> Failure | None:
    """Settle those of the outputs that the next program computes. Raises: Elsewhere.

    The result is the failure of an output that no memory can hold, which is settled with it.
    """
    started = perf_counter()
    graph, entry = _found(outputs, max(request.largest, PROGRAM_NODES_BOUND))
    if entry is not None and replay_program.run(entry, graph, request, started):
        return None
    wanted = graph.outputs
    if Failure in [type(leaf.value) for leaf in graph.leaves]:
        guards.spread(_cut_of(graph, program_of(graph)), wanted)
        metrics.spent("cutting", started)
        return None
    if entry is None:
        placement = sharded.placement(graph)
        program = program_of(graph, placement.shardings, placement.spread)
        if len(program.meshes) > 1:
            sharded.check(_cut_of(graph, program))
        entry = cache.find(program, placement.key)
    found = _cut_of(graph, entry.program)
    if not entry.program.places:
        found.note(user_place())
    own = graph.owned
    del graph
    if found.program.largest_output > host_memory.most():
        return guards.oversized(found, wanted)
    packed = pack(entry.program, found.slots)
    entry.observe(packed, own)
    metrics.spent("cutting", started)
    defers = request.defers and {*outputs} <= {*wanted}
    run = Run(entry, found, wanted, packed, own, request, started, defers=defers)
    executor.run(run)
    if request.runs is not None:
        request.runs.append(run)
    return None


def _found(outputs: list[Node], largest: int) -> tuple[NumberedGraph, Entry | None]:
    """The graph of the next program, and what is known of that program.

    What is on other devices is left to the programs after it.
    """
    while True:
        graph = _next_graph(outputs, largest)
        entry = cache.known(sharded.placement(graph).key if sharded.may_split() else graph.key)
        if entry is not None or not sharded.used:
            return graph, entry
        there = sharded.together(graph.recorded, outputs)
        if len(there) == len(outputs):
            return graph, entry
        outputs = there
        del graph  # it refers to nodes, all of which would become outputs


def _cut_of(graph: NumberedGraph, program: Program) -> Cut:
    return Cut(program, graph.nodes, graph.leaves, graph.slots)


def _next_graph(outputs: list[Node], largest: int) -> NumberedGraph:
    """The graph of the next program: of all outputs, or of the first part of a large graph.

    Raises: Elsewhere, while another thread computes one of its nodes.
    """
    nodes, wanted = _with_elements(reachable(outputs)), outputs
    if len(nodes) > largest:
        first = _with_elements(nodes[:largest])
        nodes, wanted = first, _frontier(first, nodes, outputs)
    if locking.are_elsewhere(nodes):
        raise locking.Elsewhere
    return numbered(nodes, wanted, keeping_held=True)


def _with_elements(nodes: list[Node]) -> list[Node]:
    """`nodes` and all results of those that have several: these become outputs one by one."""
    several = [node for node in nodes if type(node) is TupleNode]
    if not several:
        return nodes
    there = set(nodes)
    parts = [part for part in chain.from_iterable(map(elements, several)) if part not in there]
    return sorted([*nodes, *parts], key=_by_serial) if parts else nodes


def _frontier(first: list[Node], nodes: list[Node], outputs: list[Node]) -> list[Node]:
    """Those of the `first` of `nodes` that the others need or that are outputs."""
    others = set(nodes).difference(first)
    later = set(chain.from_iterable(map(_operands_of, others)))
    later.update(outputs)
    return [node for node in first if node in later]
