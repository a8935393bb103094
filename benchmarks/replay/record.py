"""Recording a trace: what a script's programs take on the host, by XLA and in the compiler.

`python -m benchmarks.replay.record NAME SCRIPT [ARGUMENT …]` runs the script once by each tier, in
a process of its own, every program waited for, and writes `traces/NAME.json`. A program that only
one tier has run is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

from benchmarks.replay.trace import TRACES, Trace, Traced
from lazytensor.core.ir.program import Program

CUTS_RECORDED: Final = 400
"""Cuts of a trace: a policy has decided what it will decide by then."""


def observe(path: str, script: str, arguments: list[str]) -> int:
    """Run a script, and write each of its cuts: program, seconds before it, seconds, how."""
    from lazytensor.cli.script_run import ScriptRun
    from lazytensor.core.observe import events
    from lazytensor.core.runtime.program_cache import cache

    cuts: list[tuple[str, float, float, str]] = []
    sizes: dict[str, tuple[int, int]] = {}
    names: dict[Program, str] = {}
    last = [time.perf_counter()]

    def note(event: events.Event | events.Fallback) -> None:
        if not isinstance(event, events.Event) or len(cuts) == CUTS_RECORDED:
            return
        program = event.program
        if program not in names:
            name = names[program] = hashlib.sha256(str(program).encode()).hexdigest()[:12]
            work = cache.find(program).extent
            sizes[name] = (work.operations, work.elements)
        between = time.perf_counter() - last[0] - event.seconds
        cuts.append((names[program], max(between, 0.0), event.seconds, event.how))
        last[0] = time.perf_counter()

    events.listeners.append(note)
    is_file = script.endswith(".py")
    try:
        return ScriptRun(script, tuple(arguments), not is_file, not is_file, 1, None).start()
    finally:
        Path(path).write_text(json.dumps({"cuts": cuts, "sizes": sizes}))


def _run(tier: str, arguments: list[str]) -> dict[str, Any]:
    """What a script did by one tier, from an empty disk cache."""
    with NamedTemporaryFile(suffix=".json") as said:
        given = {
            "LAZYTENSOR_TIER": tier,
            "LAZYTENSOR_WAIT": "1",
            "LAZYTENSOR_PADDING": "0",
            "LAZYTENSOR_DISK": "0",
            "OMP_WAIT_POLICY": "passive",
        }
        command = [sys.executable, "-m", "benchmarks.replay.record", "--observe", said.name]
        environment = {**os.environ, **given}
        subprocess.run([*command, *arguments], env=environment, check=True, stdout=sys.stderr)
        answer: dict[str, Any] = json.loads(Path(said.name).read_text())
        return answer


def record(name: str, arguments: list[str]) -> Trace:
    """The trace of a script that is run by both tiers."""
    host, xla = (_run(tier, arguments) for tier in ("interpret", "compile"))
    by_xla: dict[str, list[float]] = defaultdict(list)
    compiling: dict[str, float] = {}
    for key, _, seconds, how in xla["cuts"]:
        if how == "cached":
            by_xla[key].append(seconds)
        else:
            compiling.setdefault(key, seconds)
    keys = [k for k in dict.fromkeys(cut[0] for cut in host["cuts"]) if by_xla.get(k)]
    numbers = {key: at for at, key in enumerate(keys)}
    programs = tuple(Traced(*host["sizes"][k], round(compiling[k], 4)) for k in keys)
    seen: dict[str, int] = defaultdict(int)
    runs = []
    for key, between, seconds, _ in host["cuts"]:
        if key not in numbers:
            continue
        xlas = by_xla[key]
        xlas_seconds = xlas[min(seen[key], len(xlas) - 1)]
        seen[key] += 1
        runs.append((numbers[key], *(round(s * 1e6) for s in (between, seconds, xlas_seconds))))
    return Trace(name, programs, tuple(runs))


def main() -> None:
    """Record one trace, or be the process that is recorded."""
    first, *rest = sys.argv[1:]
    if first == "--observe":
        sys.exit(observe(rest[0], rest[1], rest[2:]))
    made = record(first, rest)
    made.write(TRACES / f"{first}.json")
    print(f"{first}: {len(made.programs)} programs, {len(made.runs)} runs")


if __name__ == "__main__":
    main()
