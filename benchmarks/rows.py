"""The table of targets, a row for each."""

from __future__ import annotations

from functools import partial

from benchmarks import (
    first_fit,
    first_steps,
    loops,
    operations,
    pipeline,
    raw_ops,
    recording,
    solvers,
    starting,
    tf_steps,
    threads,
    training,
    waits,
)
from benchmarks.row import Row


def _recording(operation: str) -> Row:
    return Row(
        operation,
        f"record `{operation}`, 8×8 elements f32",
        "≤ 0.8 µs",
        lambda m: m["ours"] <= 0.8e-6,
        partial(recording.record, operation, (8, 8)),
    )


def _hottest(name: str, operation: str) -> Row:
    return Row(
        name,
        f"record `{operation}`, 8 elements f32",
        "≤ 0.3 µs; ≤ 1.3× NumPy",
        lambda m: m["ours"] <= 0.3e-6 and m["ours / NumPy"] <= 1.3,
        partial(recording.record, operation, (8,)),
    )


def _solver(name: str, what: str, factor: float) -> Row:
    return Row(
        name,
        what,
        f"≥ {factor:g}× NumPy",
        lambda m: m["NumPy / ours"] >= factor,
        partial(solvers.contest, name),
    )


TARGETS = [
    _hottest("record-add", "x + y"),
    _hottest("record-scale", "x * 2.0"),
    _hottest("record-sin", "np.sin(x)"),
    Row(
        "dispatch",
        "cut, look up, dispatch 1,000 nodes, compiled before",
        "≤ 0.2 ms, nothing compiled",
        lambda m: (
            m["sync"] <= 0.2e-3
            and m["compiles"] == m["interpreted a round"] == m["automatic cuts"] == 0
        ),
        recording.dispatch,
    ),
    _solver("jacobi", "Jacobi 2-D, N=700, 1000 steps", 4.0),
    _solver("gray-scott", "Gray-Scott 512² f64, 500 steps", 3.0),
    _solver("black-scholes", "Black-Scholes, 4 M options f32", 6.0),
    Row(
        "moving-column",
        "`a[:, j] = v` for moving j",
        "1 program (baked, then as data); ≤ 40 µs beyond the copy",
        lambda m: (
            m["200², cut at each: compiles"] <= 2
            and max(m[f"{n}²: beyond NumPy's copy"] for n in (200, 2000)) <= 40e-6
        ),
        loops.moving_column,
    ),
    Row(
        "many-small",
        "50 small programs run once, import included",
        "≤ 3× NumPy",
        lambda m: m["ours / NumPy"] <= 3.0,
        starting.small_programs,
    ),
    Row(
        "second-process",
        "heavy script again, disk cache warm",
        "0 compiles; ≤ 0.3 s after jax is imported",
        lambda m: m["compiles"] == 0 and m["loaded from disk"] > 0 and m["first result"] <= 0.3,
        starting.second_process,
    ),
    Row(
        "memory",
        "peak memory, 10,000 in-place updates",
        "≤ 1.2× that of 100",
        lambda m: m["growth"] <= 1.2,
        loops.memory,
    ),
    Row(
        "import",
        "`import lazytensor.numpy`",
        "≤ 0.05 s over `import numpy`",
        lambda m: m["added"] <= 0.05,
        starting.importing,
    ),
]
RECORDING = [_recording(call) for call in recording.CALLS]
TABLES = {
    "targets": TARGETS,
    "recording": RECORDING,
    "ops": operations.rows(),
    "torch": training.rows(),
    "tf": raw_ops.rows() + tf_steps.rows(),
    "pipeline": pipeline.rows(),
    "threads": threads.rows(),
    "waits": waits.rows(),
    "first-steps": first_steps.rows() + first_fit.rows(),
}
