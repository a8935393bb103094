cimport cython

from lazytensor.core.ir.recording cimport NodeBase
from lazytensor.core.ir.types cimport TensorType


@cython.no_gc
cdef class Holder:
    cdef public object _base
    cdef public object _shadow
    cdef public object ref
    cdef object __weakref__


cpdef object ref_of(Holder array)
cpdef TensorType type_of(Holder array)
cpdef NodeBase node_of(Holder array)
cpdef Holder holding(object cls, NodeBase node)
cpdef Holder showing(object cls, object ref, object shadow, object base)
