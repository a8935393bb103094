"""The errors that users see. Text: `op: rule broken, what was given`, types printed `f32[2,3]`."""

from __future__ import annotations


class LazyTensorError(Exception):
    """Base of every error that this library raises on its own account."""


class ShapeError(LazyTensorError, ValueError):
    """Operand shapes, axes or sizes that an op does not take."""


class DTypeError(LazyTensorError, TypeError):
    """Operand dtypes that an op does not take."""


class ShardingError(LazyTensorError, ValueError):
    """Arrays on the devices of different meshes in one operation."""


class ProcessError(LazyTensorError, RuntimeError):
    """One of several processes that compute together has ended, or does not do the same."""


class Unsupported(LazyTensorError, NotImplementedError):
    """Something that is not written yet; the text names the file to edit."""


class NoValue(Unsupported):
    """A value was asked for in the body of a function, where there are none."""


class DataError(LazyTensorError, IndexError):
    """A value met while a program ran that the op does not take (an index out of range)."""


class OutOfMemory(LazyTensorError, MemoryError, RuntimeError):
    """More than the memory that there is: `MemoryError` as in NumPy, `RuntimeError` as in torch."""


class LazyTensorWarning(UserWarning):
    """Something that works, but not as it should: a fallback, a cache folder that is read-only."""
