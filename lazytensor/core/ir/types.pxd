cdef class TensorType:
    cdef readonly object dtype
    cdef readonly tuple shape
    cdef readonly Py_ssize_t ndim
    cdef readonly object size
    cdef readonly long long work
    cdef readonly long long moving
    cdef readonly int number
    cdef object __weakref__


cpdef TensorType tensor_type(object dtype, tuple shape=*)
