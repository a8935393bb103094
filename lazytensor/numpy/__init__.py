"""A lazy NumPy: `import lazytensor.numpy as np`.

Names that are not listed below are NumPy's own: constants, dtypes, classes, and functions that
compute their lazy arguments first.
"""

from typing import Any

from lazytensor.frontends.numpy import namespace


def __getattr__(name: str) -> Any:
    value = globals()[name] = namespace.public(name)
    return value


def __dir__() -> list[str]:
    return namespace.names()
