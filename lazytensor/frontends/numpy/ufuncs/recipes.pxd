cimport cython

from lazytensor.core.buffers.array_base cimport Holder, holding, node_of, showing
from lazytensor.core.buffers.cell cimport Cell, view_of
from lazytensor.core.ir.recording cimport NodeBase, Signature, record
from lazytensor.core.trace.call_memo cimport CallPlan, Reader
from lazytensor.frontends.numpy.host.small cimport at_once

cdef Reader _PLAINLY
cdef Reader _WITH_ARRAYS


@cython.final
cdef class Recipes:
    cdef dict found
    cdef object real
    cdef object slow

    @cython.locals(
        nodes=list, node=NodeBase, recipe=CallPlan, signature=Signature, result=Holder
    )
    cpdef object called(self, tuple args, dict kwargs)


@cython.locals(array=Holder)
cdef bint is_in_rows(object x)
