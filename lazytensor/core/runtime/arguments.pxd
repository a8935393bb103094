# Compiled: each result passes through it.
cpdef object in_rows(object value)
