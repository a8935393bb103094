cimport cython

from lazytensor.core.buffers.array_base cimport Holder, showing
from lazytensor.core.trace.call_memo cimport Paired


cdef class Plan:
    cdef public tuple front
    cdef readonly bint scalar
    cdef readonly object shadow
    cdef readonly tuple steps
    cdef readonly dict stores
    cdef public object target
    cdef readonly object type


cdef dict _plans

@cython.locals(found=Plan)
cpdef Plan plan(object type, object key)

cpdef object with_arrays(object key)
cpdef object viewed(object x, object key, Plan found=*)
