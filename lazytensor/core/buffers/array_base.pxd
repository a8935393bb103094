cimport cython

from lazytensor.core.ir.recording cimport NodeBase


@cython.no_gc
cdef class Holder:
    cdef public object _base
    cdef public object _shadow
    cdef public object ref
    cdef object __weakref__


cpdef NodeBase node_of(Holder array)
cpdef Holder holding(object cls, NodeBase node)
cpdef Holder showing(object cls, object ref, object shadow, object base)
