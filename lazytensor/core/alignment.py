"""Where a graph that grows without being observed is cut: at the same point of the user's loop.

A point is a stack of places in the user's code. Nobody needs barriers: once more than
`cell.ELEMENTS_BOUND` work is pending, the graph is cut at the head of a loop, and from then on
whenever that head comes round with enough work pending. So a loop is cut once every k whole
iterations, and its programs repeat from the second cut on.
"""

from __future__ import annotations

from typing import Final

from lazytensor.core import metrics
from lazytensor.core.cell import ELEMENTS_BOUND
from lazytensor.core.node import nodes_made
from lazytensor.core.place import Place, user_stack
from lazytensor.core.recorder import recorder

PATIENCE: Final = 2
"""A cut waits for its anchor until this many times the usual work is pending."""
MOST_NODES: Final = 4000
"""Pending nodes, scalars included, past which the graph is cut wherever the program is."""


def cut_if_aligned() -> None:
    """Cut if this point of the user's program is where the last automatic cut was made.

    Where that point does not come back in time, cut at the next loop's head instead, and remember
    that. `recorder.stride` is how much work there was between the last two automatic cuts.
    """
    from lazytensor.core.runtime import sync

    if recorder.busy:
        return
    here = user_stack()
    anchor = recorder.anchor
    lost = anchor is None or recorder.work > PATIENCE * max(recorder.stride, ELEMENTS_BOUND)
    endless = nodes_made() - recorder.serial > MOST_NODES
    loop = here[: _loop_depth(here)] if lost or endless else ()
    if loop or endless or (anchor is not None and here[: len(anchor)] == anchor):
        if loop or endless:
            recorder.anchor = loop or here
        recorder.stride = recorder.work
        metrics.count("automatic_cuts")
        sync(cause="automatic cut")
        recorder.previous = ()
    else:
        recorder.previous = here


def _loop_depth(here: tuple[Place, ...]) -> int:
    """If the program went backwards since last time: how many frames, innermost first, that took.

    The last of them is the loop's own; what called it does not matter, so that a second call of
    the same loop finds its programs again. Coming to the very same point again is a loop as well.
    """
    if here == recorder.previous:
        return 1
    frames = zip(reversed(here), reversed(recorder.previous), strict=False)
    for outer, ((code, offset), (old_code, old_offset)) in enumerate(frames):
        if code is not old_code or offset != old_offset:
            return len(here) - outer if code is old_code and offset < old_offset else 0
    return 0
