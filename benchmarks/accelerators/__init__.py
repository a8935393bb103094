"""Accelerators: what programs cost on one, and what steps take where there is one."""
