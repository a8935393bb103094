cimport cython

from lazytensor.core.buffers.array_base cimport Holder, node_of, ref_of, type_of
from lazytensor.core.buffers.cell cimport Cell, View, extend, read, view_through, write_through
from lazytensor.core.ir.recording cimport NodeBase, Signature, record
from lazytensor.core.ir.types cimport TensorType
from lazytensor.core.trace.call_memo cimport Paired
from lazytensor.frontends.numpy.indexing.basic cimport Plan, plan, viewed, with_arrays


@cython.locals(found=Plan, shown=TensorType)
cpdef object getitem(Holder x, object key)

cdef bint _lies_as_lent(Holder x)

cdef bint _is_large(object value, object bound)

@cython.locals(found=Plan, node=NodeBase, cell=Cell, view=View)
cpdef object setitem(Holder x, object key, object value)

@cython.locals(store=Paired, signature=Signature, given=NodeBase)
cdef object _planned(Plan found, object value)

cdef object _before(View x, Plan found)
