"""Optimizers: one op for all parameters of a dtype, and where a training step ends."""
