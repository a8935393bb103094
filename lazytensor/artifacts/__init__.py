"""Programs to take along: exported, saved, loaded, written for other runtimes."""

from lazytensor.artifacts.artifact import Artifact, load
from lazytensor.artifacts.export import export

__all__ = ["Artifact", "export", "load"]
