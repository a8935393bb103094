cimport cython

from lazytensor.core.buffers.cell cimport Cell
from lazytensor.core.ir.node cimport Node
from lazytensor.core.ir.recording cimport NodeBase, PendingWork, here, record
from lazytensor.core.ir.types cimport TensorType
from lazytensor.core.trace.call_memo cimport CallPlan


cdef long long _since
cdef NodeBase node_of(Cell cell)
@cython.locals(type=TensorType)
cdef long long type_of(NodeBase node)
cdef long long serial_of(NodeBase node)
cdef long long may_be_eager()
@cython.locals(node=Node)
cdef long long is_entered(Cell cell)
@cython.locals(made=list)
cdef tuple recorded(CallPlan plan, tuple nodes)

@cython.locals(recorder=PendingWork)
cdef Cell _held(NodeBase node)

@cython.locals(made=list, recorder=PendingWork)
cdef object written(Cell cell, CallPlan plan, tuple nodes)
cdef object taken()
