"""A lazy NumPy: `array.py` defines the array, the modules imported here add its methods."""

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
