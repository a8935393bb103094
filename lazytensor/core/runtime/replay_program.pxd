# Compiled as it is: a cut is some hundred calls of Python.
