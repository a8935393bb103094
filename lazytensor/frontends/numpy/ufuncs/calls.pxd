cimport cython

from lazytensor.core.buffers.array_base cimport Holder, holding, node_of
from lazytensor.core.device.host_memory cimport copied
from lazytensor.core.ir.op cimport leaf
from lazytensor.core.ir.recording cimport NodeBase, Signature, record
from lazytensor.core.ir.types cimport tensor_type
from lazytensor.core.trace.call_memo cimport Paired


@cython.locals(signature=Signature, made=NodeBase)
cdef NodeBase _recorded(Paired plan, tuple operands)

cdef Holder _held(Paired plan, tuple operands)

@cython.locals(second=NodeBase, plan=Paired)
cpdef NodeBase planned(dict plans, NodeBase node, object other)

@cython.locals(
    node=NodeBase, found=tuple, plan=Paired, given=NodeBase, operands=tuple, arrays=tuple
)
cdef object _with_array(dict plans, object slow, object lay, bint swapped, Holder x, object other)

@cython.locals(key=tuple, found=tuple, plan=Paired)
cdef tuple _plan_with_array(dict plans, NodeBase node, object other, bint swapped=*)
