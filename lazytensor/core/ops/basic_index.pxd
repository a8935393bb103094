cimport cython


@cython.locals(code=list)
cpdef tuple encoded(object key)
