"""Rows: per raw op a function of its operands that gives nodes."""
