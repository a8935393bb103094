cimport cython

from lazytensor.core.buffers.array_base cimport Holder, ref_of, showing, type_of
from lazytensor.core.buffers.cell cimport view_through
from lazytensor.core.ir.types cimport TensorType
from lazytensor.core.ops.basic_key cimport encoded
from lazytensor.core.trace.call_memo cimport Paired


cdef class Plan:
    cdef public tuple front
    cdef readonly bint scalar
    cdef readonly object shadow
    cdef readonly tuple steps
    cdef readonly dict stores
    cdef public object target
    cdef readonly TensorType type


cdef dict _plans

@cython.locals(found=Plan)
cpdef Plan plan(TensorType type, object key)

cpdef object with_arrays(object key)
@cython.locals(shown=TensorType)
cpdef object viewed(Holder x, object key, Plan found=*)
