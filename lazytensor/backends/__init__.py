"""Backends: compilers that run programs."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
"""XLA reads it as it is loaded. jax sets it, too; else XLA logs each client that it makes."""
