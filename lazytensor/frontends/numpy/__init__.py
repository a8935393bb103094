"""A lazy NumPy."""

from lazytensor.frontends.numpy import operators
from lazytensor.frontends.numpy.array import Lazy
from lazytensor.frontends.numpy.indexing import getitem, setitem
from lazytensor.frontends.numpy.array import ndarray

operators.attach()
setattr(Lazy, "__getitem__", getitem)
setattr(ndarray, "__setitem__", setitem)
