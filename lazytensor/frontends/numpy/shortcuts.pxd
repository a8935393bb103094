# No declarations: the functions take any objects.
