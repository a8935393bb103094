from lazytensor.core.buffers.array_base cimport Holder, holding, node_of, showing
from lazytensor.core.buffers.cell cimport Cell, view_of
from lazytensor.core.ir.recording cimport NodeBase, Signature, record
from lazytensor.core.trace.call_memo cimport CallPlan, Reader

cdef Reader _PLAINLY
cdef Reader _WITH_ARRAYS
