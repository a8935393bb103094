cimport cython
from cpython.object cimport PyObject

from lazytensor.core.ir.recording cimport NodeBase


cdef struct Link:
    Link* before
    Link* behind
    PyObject* cell


@cython.no_gc
cdef class Listed:
    cdef public NodeBase node
    cdef Link link
    cdef object __weakref__


@cython.final
cdef class PendingCells:
    cdef Link ends

    cpdef object add(self, Listed cell)
    cpdef list nodes(self)
    cpdef object keep_pending(self)
