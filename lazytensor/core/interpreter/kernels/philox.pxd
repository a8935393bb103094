# No names for other modules; the file says that this one is compiled.
