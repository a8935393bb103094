# Compiled: each raw op of a thread that records is answered here.
cimport cython

from lazytensor.core.ir.recording cimport NodeBase, record
from lazytensor.frontends.tf.dispatch.plans cimport Declaration, RowPlan


@cython.final
cdef class Row(Declaration):
    cdef readonly Py_ssize_t arity
    cdef readonly bint listed
    cdef readonly dict plans
    cdef readonly bint quick
    cdef readonly tuple takes

    @cython.locals(operands=list, lazy=bint, node=NodeBase, plan=RowPlan, result=NodeBase)
    cpdef object answer(self, object ctx, object name, tuple args)

    cdef tuple _attrs(self, tuple args)

    @cython.locals(found=tuple, operands=list, parts=list, plan=RowPlan)
    cdef object _with_values(self, object ctx, object name, tuple args)

    cdef object _with_numbers(self, object ctx, object name, tuple args)

    @cython.locals(operands=list, parts=list, lazy=bint, is_list=bint, listed=bint, node=NodeBase)
    cdef tuple _seen(self, object args)


@cython.locals(node=NodeBase)
cdef bint _stays(list operands) except -1
cdef tuple _on_tape(tuple given, RowPlan plan)
