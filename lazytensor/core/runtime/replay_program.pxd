# Compiled: each cut of a known program calls it.
cimport cython

from lazytensor.core.interpreter.ready_program cimport ReadyProgram
from lazytensor.core.ir.graph cimport NumberedGraph
from lazytensor.core.ir.recording cimport NodeBase
from lazytensor.core.observe.metrics cimport spent
from lazytensor.core.runtime cimport cost_model, tiers
from lazytensor.core.runtime.arguments cimport host_value, in_rows
from lazytensor.core.runtime.program_cache cimport Entry
from lazytensor.core.runtime.run cimport Request


cpdef bint run(Entry entry, NumberedGraph graph, Request request, double start) except -1
cpdef object account(Entry entry, str cause, str how, double start)

@cython.locals(operand=NodeBase)
cpdef bint are_computed(object operands) except -1

cdef bint _is_as_before(Entry entry) except -1
cdef bint _is_left_to_numpy(Entry entry) except -1

cpdef str way(Entry entry)

@cython.locals(ready=ReadyProgram, values=list, given=list, results=list, seconds=double)
cdef bint _interpret(Entry entry, NumberedGraph graph, double cut_at) except -1

cpdef ReadyProgram ready_program(Entry entry)

@cython.locals(ready=ReadyProgram, results=list, seconds=double)
cpdef tuple by_host(Entry entry, list values, list given, object outputs, double start)

@cython.locals(outputs="Py_ssize_t")
cpdef bint is_broken(Entry entry, list results) except -1

@cython.locals(node=NodeBase)
cdef object _settle(list outputs, object values)

cdef bint _execute(Entry entry, NumberedGraph graph, double cut_at) except -1
