"""Tensors and variables that hold a node."""
