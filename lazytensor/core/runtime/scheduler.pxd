# Compiled: each cut is some hundred calls in Python.
cimport cython

from lazytensor.core.device cimport garbage
from lazytensor.core.ir.graph cimport NumberedGraph, numbered, reachable
from lazytensor.core.ir.recording cimport NodeBase, here
from lazytensor.core.ir.trace_state cimport Recorder
from lazytensor.core.observe cimport metrics
from lazytensor.core.runtime cimport locking, replay_program
from lazytensor.core.runtime.program_cache cimport Entry
from lazytensor.core.runtime.run cimport Request


@cython.locals(recorder=Recorder, only=NodeBase, made="long long", node=NodeBase)
cdef object _sync(tuple nodes, Request request, bint alone)

@cython.locals(recorder=Recorder)
cdef bint _computes(list live, list wanted, Request request) except -1

cdef NodeBase _only(Recorder recorder, object nodes)
cdef object _note_span(Recorder recorder, long long made)
cpdef object observe(NodeBase node)
cdef object _observed(NodeBase node)

@cython.locals(recorder=Recorder)
cdef list _live(list wanted)

@cython.locals(node=NodeBase)
cdef list _pending(object nodes)

@cython.locals(node=NodeBase)
cdef object _compute(list outputs, Request request)

@cython.locals(graph=NumberedGraph, entry=Entry, started=double)
cdef object _compute_next(list outputs, Request request)

@cython.locals(graph=NumberedGraph, entry=Entry)
cdef tuple _found(list outputs, Py_ssize_t largest)

cdef object _cut_of(NumberedGraph graph, object program)
cdef NumberedGraph _next_graph(list outputs, Py_ssize_t largest)

@cython.locals(node=NodeBase)
cdef list _with_elements(list nodes)
