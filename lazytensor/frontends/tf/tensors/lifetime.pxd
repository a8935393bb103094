# Compiled: each recorded raw op makes a tensor, which ends later.
cimport cython

from lazytensor.core.ir.pending cimport Listed
from lazytensor.core.ir.recording cimport NodeBase
from lazytensor.core.ir.trace_state cimport Recorder, with_room


@cython.locals(listed=Listed, recorder=Recorder, there=set)
cpdef object begin(object tensor, NodeBase node)

@cython.locals(there=set)
cpdef object end(object tensor)
