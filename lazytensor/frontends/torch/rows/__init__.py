"""Rows: per aten operation a function of its operands that gives nodes."""
