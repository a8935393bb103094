"""Temporary assembly until the package's own `__init__` is written."""
from importlib import import_module
import numpy as np
from lazytensor.frontends.numpy.functions.entry import lazily
FUNCTIONS = {}; METHODS = {}; MODULES = {}
for _m in "creation einsum joining padding products reductions statistics views nan quantiles".split():
    _mod = import_module(f"{__name__}.{_m}")
    for _n, _f in getattr(_mod, "LAZY", {}).items():
        FUNCTIONS[_n] = lazily(_n, _f, getattr(np, _n)) if hasattr(np, _n) else _f
    FUNCTIONS.update(getattr(_mod, "PLAIN", {}))
    METHODS.update(getattr(_mod, "METHODS", {}))
