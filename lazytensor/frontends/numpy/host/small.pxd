cpdef bint all_stay(object values)
cpdef bint at_once(tuple args, dict kwargs, bint growing=*)
