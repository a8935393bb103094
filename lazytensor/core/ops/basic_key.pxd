cpdef object encoded(object key, long long number=*)
