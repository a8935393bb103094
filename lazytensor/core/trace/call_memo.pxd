cimport cython

from lazytensor.core.buffers.array_base cimport Holder, node_of
from lazytensor.core.ir.recording cimport NodeBase, Signature, record


@cython.final
cdef class CallPlan:
    cdef readonly tuple constants
    cdef public object form
    cdef readonly tuple results
    cdef readonly Signature signature
    cdef readonly tuple steps
    cdef object __weakref__

    @cython.locals(signature=Signature, places=tuple, made=list)
    cpdef list replay(self, object nodes)


@cython.final
cdef class Paired:
    cdef readonly object body
    cdef readonly object dtype
    cdef readonly object form
    cdef readonly object high
    cdef readonly object low
    cdef public NodeBase number
    cdef readonly Signature signature


@cython.final
cdef class Reader:
    cdef readonly object array
    cdef readonly frozenset others
    cdef readonly frozenset plain
    cdef readonly object unusual

    cpdef tuple key(self, object args, dict kwargs, list nodes)

    @cython.locals(holder=Holder, node=NodeBase)
    cdef bint _read(self, object x, list parts, list nodes, int depth) except -1
