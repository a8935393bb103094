cimport cython

from lazytensor.core.ir.recording cimport NodeBase, Signature, record


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
