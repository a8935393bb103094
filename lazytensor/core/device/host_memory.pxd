cpdef object copied(object array, object dtype=*)
