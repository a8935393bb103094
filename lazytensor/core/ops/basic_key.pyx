"""Basic keys as codes. `basic_key.py` has the docstrings, and does the same."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject


cdef extern from "Python.h":
    ctypedef struct PySliceObject:
        PyObject* start
        PyObject* stop
        PyObject* step

    bint PyLong_CheckExact(object item)
    bint PySlice_Check(object item)
    long long PyLong_AsLongLongAndOverflow(object item, int* overflow)


cdef enum:
    ITEMS = 129  # integers for all of NumPy's 64 axes, as many new axes, and an ellipsis
    WORDS = 1 + 4 * ITEMS
    INTEGER = 1
    NEW_AXIS = 2
    REST = 3
    SLICE = 4  # with a bit more for each end that is an int

cdef long long MOST = 0x7FFFFFFFFFFFFFFF


# The value of `item`, an int; `overflow` is set if it does not fit.
cdef inline long long value_of(object item, int* overflow):
    cdef long long value = PyLong_AsLongLongAndOverflow(item, overflow)
    return MOST * overflow[0] if overflow[0] else value


# Writes the words of an item; returns how many, 0 if it is not basic.
cdef inline int write_item(object item, long long* words):
    cdef int overflow = 0, count = 1, i
    cdef PyObject* ends[3]
    if PySlice_Check(item):
        ends = [
            (<PySliceObject*>item).start, (<PySliceObject*>item).stop, (<PySliceObject*>item).step
        ]
        words[0] = SLICE
        for i in range(3):
            if <object>ends[i] is None:
                continue
            if not PyLong_CheckExact(<object>ends[i]):
                return 0
            words[0] |= SLICE << (i + 1)
            words[count] = value_of(<object>ends[i], &overflow)  # a far end is beyond any axis, too
            count += 1
        return count
    if PyLong_CheckExact(item):
        words[0] = INTEGER
        words[1] = value_of(item, &overflow)  # too large for any axis, too
        return 2
    if item is None or item is ...:
        words[0] = NEW_AXIS if item is None else REST
        return 1
    return 0


cpdef object encoded(object key, long long number=0):
    cdef long long words[WORDS]
    cdef int at = 1, written
    words[0] = number
    if type(key) is not tuple:
        written = write_item(key, words + 1)
        if not written:
            return None
        return PyBytes_FromStringAndSize(<char*>words, (1 + written) * sizeof(long long))
    if len(<tuple>key) > ITEMS:
        return None
    for item in <tuple>key:
        written = write_item(item, words + at)
        if not written:
            return None
        at += written
    return PyBytes_FromStringAndSize(<char*>words, at * sizeof(long long))
