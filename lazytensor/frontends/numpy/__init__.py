"""A lazy NumPy: `array.py` says what an array is, the tables attached here what it can do."""

from __future__ import annotations

from lazytensor.frontends.numpy import masked, methods, neighbours, operators

operators.attach()
methods.attach()
masked.attach()
neighbours.watch()
