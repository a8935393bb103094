"""A lazy NumPy: `array.py` says what an array is, the modules imported here what it can do."""

from lazytensor.frontends.numpy.arrays import (  # noqa: F401  # they add to its class
    flags,
    flat,
    methods,
    operators,
    protocols,
    reinterpretation,
    scalar,
    sorting,
)
