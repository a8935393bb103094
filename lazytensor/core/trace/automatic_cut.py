"""Where a graph that grows without being observed is cut: at the same point of the user's loop.

Nobody needs barriers: once more than `ELEMENTS_BOUND` work is pending, the graph is cut at the head
of a loop, and from then on whenever that head comes round with enough work pending. So a loop is
cut once every k whole iterations, and its programs repeat from the second cut on. Of nested loops
the outermost with a short body is taken: a loop over five coefficients inside the loop over time
steps should not end a program that would have fused.

A head is the first record of a round, so all records before it must have been looked at. Where
enough is pending only in the middle of a round, the cut waits for the next one. Once a loop is
found, the next records are all looked at, as there may be a loop around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lazytensor.core.ir.recording import Place, nodes_made, thread, user_place
from lazytensor.core.ir.source_location import Loop, user_stack
from lazytensor.core.ir.trace_state import policies
from lazytensor.core.observe import metrics
from lazytensor.core.policy import (
    ELEMENTS_BOUND,
    LOOP_OPERATIONS,
    NODE_WORK,
    PENDING_NODES_BOUND,
    PROGRAM_NODES_BOUND,
    SHORT_LOOP_NODES,
    TRIALS,
)

FUSED_NODES: Final = 2 * LOOP_OPERATIONS
"""Nodes, scalars included, that a purely elementwise graph has before it is cut: it becomes one
loop over memory, so a longer one reads and writes less."""

WATCHED_RECORDS: Final = 4 * SHORT_LOOP_NODES
"""Records that are all looked at once a loop is found: four rounds of one around it."""
UNWATCHED: Final = -1
"""No number of nodes: for a time, records are not looked at."""

holds: Final[list[Callable[[], bool]]] = []
"""Asked before an automatic cut: whether something is under way that ends the graph by itself. A
function that says yes sets the recorder's `work`, which decides when it is asked again."""


def overflow() -> None:
    """Enough is pending: cut if the program is where a loop is to be cut.

    A program that goes forward in a frame is at no loop's head but the known one's. That is the
    most frequent case past the bound, and costs one look at the program's place.
    """
    recorder = thread.recorder
    is_watched = recorder.looks > 0 or recorder.watched == recorder.serial
    recorder.watched = recorder.serial
    if recorder.looks:
        _count_look()
    place = user_place()
    last, recorder.passed = recorder.passed, place
    if place is not None and last is not None and last[0] is place[0] and last[1] < place[1]:
        loop = recorder.loop
        if loop is None or loop.places[0] != place:
            return
    if recorder.busy or any(ask() for ask in holds):
        recorder.passed, recorder.watched = None, UNWATCHED  # they are to be asked again
    elif not (_waits(place) or _ends_by_itself()):
        _cut_if_aligned(last, is_watched)


def _cut_if_aligned(last: Place | None, is_watched: bool) -> None:
    """Cut if this is the head of the loop of the last automatic cut, or of a better one.

    `last`: where the program was when it was looked at last. `is_watched`: nothing has been
    recorded since. Else a loop has come round, but its head may lie behind: the next round shows
    it.
    """
    recorder = thread.recorder
    pending = nodes_made() - recorder.serial
    if recorder.fuses and pending < FUSED_NODES:
        return
    here, previous = user_stack(), recorder.previous
    if last is not None and previous and last[0] is previous[0][0]:
        recorder.previous = (last, *previous[1:])
    loop = _loop_at(here)
    is_better = loop is not None and _is_better(loop, pending)
    recorder.previous = here
    if is_better:
        _look_at_all()
    is_new = is_better and is_watched
    if is_new:
        recorder.loop = loop
    elif pending > PENDING_NODES_BOUND:
        recorder.loop, is_new = None, True
    elif recorder.loop is None or not recorder.loop.is_at(here):
        return
    if recorder.work <= enough():
        return
    recorder.rounds = 0 if is_new else recorder.rounds + 1
    recorder.stride = recorder.work
    if pending > 2 * recorder.steady:
        recorder.steady = 0
    cut()


def enough() -> int:
    """Pending work, in elements, above which a graph is cut at the head of its loop."""
    recorder = thread.recorder
    return recorder.usual if recorder.looks else recorder.bound


def _look_at_all() -> None:
    """Look at what is recorded next, however little is pending: there may be a loop around."""
    recorder = thread.recorder
    if not recorder.looks:
        recorder.usual, recorder.bound = recorder.bound, 0
    recorder.looks = WATCHED_RECORDS


def _count_look() -> None:
    recorder = thread.recorder
    recorder.looks -= 1
    if not recorder.looks:
        recorder.bound = recorder.usual


def cut() -> None:
    """Cut because enough is pending, and count that."""
    from lazytensor.core.runtime.scheduler import AUTOMATIC, sync

    metrics.count("automatic_cuts")
    sync(cause=AUTOMATIC)


def _waits(place: Place | None) -> bool:
    """Whether the loop has proved itself and this is not its head: the answer in most cases."""
    recorder = thread.recorder
    loop = recorder.loop
    if loop is None or recorder.rounds < TRIALS or recorder.work > 2 * recorder.stride:
        return False
    if nodes_made() - recorder.serial > PENDING_NODES_BOUND:
        return False  # another loop, of smaller arrays
    return place != loop.places[0]


def _ends_by_itself() -> bool:
    """Whether a value is asked for as regularly as rounds of a loop, the next one soon.

    Where arrays are small, as where words are generated one by one: a cut in between would make two
    programs of a round, and nothing to compute is put off by waiting.
    """
    recorder = thread.recorder
    pending = nodes_made() - recorder.serial
    span = recorder.steady
    if not SHORT_LOOP_NODES <= pending <= 2 * span <= 2 * PROGRAM_NODES_BOUND:
        return False
    if recorder.work > 2 * NODE_WORK * pending:  # where arrays are larger than NODE_WORK
        return False
    recorder.work = ELEMENTS_BOUND // 2  # when to look again
    recorder.watched = UNWATCHED
    return True


def _is_better(loop: Loop, pending: int) -> bool:
    """Whether to cut at this loop's head rather than wait for the current one's."""
    recorder = thread.recorder
    seen = recorder.loops
    now = nodes_made()
    period = now - seen.get(loop, -PENDING_NODES_BOUND)
    if len(seen) > SHORT_LOOP_NODES:
        seen.clear()
    seen[loop] = now
    current = recorder.loop
    if current is not None and recorder.work <= 2 * max(recorder.stride, ELEMENTS_BOUND):
        return loop.contains(current) and period <= SHORT_LOOP_NODES
    around = any(
        other.contains(loop) and now - at <= SHORT_LOOP_NODES for other, at in seen.items()
    )
    return pending >= SHORT_LOOP_NODES and not (around and pending < 2 * SHORT_LOOP_NODES)


def _loop_at(here: tuple[Place, ...]) -> Loop | None:
    """The loop that has come round: the program went backwards in one frame since last time."""
    recorder = thread.recorder
    if here == recorder.previous:
        if recorder.loop is not None and recorder.loop.is_at(here):
            return None
        # One instruction may make several arrays; coming back this often is a loop of one.
        recorder.repeats += 1
        return Loop(here[:1], len(here) - 1) if recorder.repeats >= TRIALS else None
    recorder.repeats = 0
    frames = zip(reversed(here), reversed(recorder.previous), strict=False)
    for outside, ((code, offset), (old_code, old_offset)) in enumerate(frames):
        if code is not old_code or offset != old_offset:
            if code is old_code and offset < old_offset:
                return Loop(here[: len(here) - outside], outside)
            return None
    return None


def install() -> None:
    """Let cells ask this policy."""
    if overflow not in policies:
        policies.append(overflow)
