"""Runs a user's script in this process, and records its times and counts."""

import importlib
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lazytensor.cli.output import write
from lazytensor.swap import Missing, Script, locate, report, swap


@dataclass
class Record:
    """The times and counts of one process; written as JSON."""

    runs: list[float] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScriptRun:
    """A script to run in this process, after the command line has been read."""

    name: str
    arguments: tuple[str, ...]
    module: bool
    plain: bool
    repeat: int
    json: Path | None
    around: Callable[[], AbstractContextManager[None]] = nullcontext  # entered around the runs

    def start(self) -> int:
        """Run the script and return its exit status; SystemExit passes through."""
        record = Record()
        try:
            if self.json is not None:
                # Import it before the script, so that the script's time excludes the import.
                importlib.import_module("numpy" if self.plain else "lazytensor.numpy")
            if not self.plain:
                swap(ready=_watch_neighbours)
            script = locate(self.name, self.arguments, module=self.module)
            with self.around():
                return self._repeat(script, record.runs)
        except Missing as missing:
            print(missing, file=sys.stderr)
            return missing.code
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the user's: see `locate`)
            return report(error)
        finally:
            if self.json is not None:
                self._write(record)

    def _repeat(self, script: Script, seconds: list[float]) -> int:
        for left in reversed(range(self.repeat)):
            start = time.perf_counter()
            try:
                status = script.run()
            except SystemExit as done:
                if done.code or not left:
                    raise
                status = 0
            finally:
                seconds.append(time.perf_counter() - start)
            if status:
                return status
        return 0

    def _write(self, record: Record) -> None:
        assert self.json is not None
        from lazytensor.core.observe import metrics

        counts = metrics.snapshot()
        if not self.plain or counts["cuts"]:  # a plain script may import lazytensor itself
            record.metrics = dict(counts)
        write(self.json, json.dumps(asdict(record)))


def _watch_neighbours() -> None:
    """Let installed libraries that accept only NumPy's arrays take the script's lazy ones."""
    from lazytensor.frontends.numpy.interop import third_party_patches

    third_party_patches.watch()
