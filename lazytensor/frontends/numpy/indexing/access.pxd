cimport cython

from lazytensor.core.buffers.array_base cimport Holder, node_of
from lazytensor.core.buffers.cell cimport Cell, View, extend
from lazytensor.core.ir.recording cimport NodeBase, Signature, record
from lazytensor.core.trace.call_memo cimport Paired
from lazytensor.frontends.numpy.indexing.basic cimport Plan, plan, viewed, with_arrays


@cython.locals(found=Plan)
cpdef object getitem(object x, object key)

@cython.locals(found=Plan, node=NodeBase, cell=Cell)
cpdef object setitem(object x, object key, object value)

@cython.locals(store=Paired, signature=Signature, given=NodeBase)
cdef object _planned(Plan found, object value)

cdef object _before(View x, Plan found)
