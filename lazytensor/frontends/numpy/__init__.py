"""A lazy NumPy: `array.py` says what an array is, the tables attached here what it can do."""

from __future__ import annotations

from lazytensor.frontends.numpy.arrays import methods, operators
from lazytensor.frontends.numpy.indexing import masked

operators.attach()
methods.attach()
masked.attach()
