# Compiled: each operation that the host runs is a step.
cimport cython

from lazytensor.core.buffers.refcounts cimport beside_the_list, is_unshared


cdef class WrittenPart:
    cdef readonly Py_ssize_t place
    cdef readonly Py_ssize_t base
    cdef readonly tuple data
    cdef readonly object shown
    cdef readonly object last_uses


cdef class Step:
    cdef readonly Py_ssize_t place
    cdef readonly object op
    cdef readonly object function
    cdef readonly tuple operands
    cdef readonly object type
    cdef readonly object dtype
    cdef readonly object shape
    cdef readonly object last_uses
    cdef public tuple over
    cdef public object writing
    cdef public WrittenPart part


cpdef object put_numbers(list values, list places, object numbers)

@cython.locals(step=Step, done="Py_ssize_t", taken="Py_ssize_t", j="Py_ssize_t")
cpdef object run_steps(list steps, list values, object held)

@cython.locals(count="Py_ssize_t", j="Py_ssize_t")
cdef object _called(object function, tuple operands, list values)

@cython.locals(i="Py_ssize_t")
cdef Py_ssize_t _taken(Step step, list values, object held) except -2

@cython.locals(i="Py_ssize_t", j="Py_ssize_t", views=list)
cdef Py_ssize_t _freed_of_views(list values, tuple over, object held) except -2

cdef bint _shows(object value, object owner) except -1

@cython.locals(views="Py_ssize_t", j="Py_ssize_t")
cdef bint _is_computed_there(Step step, WrittenPart part, list values, object held) except -1
