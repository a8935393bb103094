# Compiled: each leaf and each result passes through it.
cimport cython

from lazytensor.core.ir.recording cimport NodeBase


@cython.locals(left="Py_ssize_t", last="Py_ssize_t")
cpdef object host_value(NodeBase leaf)
cpdef object in_rows(object value)
