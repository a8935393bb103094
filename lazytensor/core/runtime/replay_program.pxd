# Compiled: each cut of a known program calls it.
cimport cython

from lazytensor.core.interpreter.small_program cimport SmallProgram
from lazytensor.core.ir.graph cimport NumberedGraph
from lazytensor.core.ir.recording cimport NodeBase
from lazytensor.core.observe.metrics cimport spent
from lazytensor.core.runtime cimport tiers
from lazytensor.core.runtime.arguments cimport in_rows
from lazytensor.core.runtime.program_cache cimport Entry
from lazytensor.core.runtime.run cimport Request


cpdef bint run(Entry entry, NumberedGraph graph, Request request, double start) except -1
cpdef object account(Entry entry, str cause, str how, double start)

@cython.locals(operand=NodeBase)
cpdef bint are_computed(object operands) except -1

cdef bint _is_as_before(Entry entry) except -1
cdef bint _is_left_to_numpy(Entry entry) except -1

@cython.locals(values=list, found=list, seconds=double)
cdef bint _interpret(Entry entry, NumberedGraph graph, double cut_at) except -1

cdef bint _is_for_numpy(object program, object extent) except -1

@cython.locals(node=NodeBase)
cdef object _settle(list outputs, object values)

cdef object _host_value(NodeBase leaf)
cdef bint _execute(Entry entry, NumberedGraph graph, double cut_at) except -1
