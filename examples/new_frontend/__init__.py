"""The Python array API standard's namespace, lazily: an example of a frontend.

`import new_frontend as xp`, then the standard's functions, on arrays that record what is done.
"""

from .array import Array
from .creation import arange, asarray, concat, full, ones, zeros
from .table import FUNCTIONS

__array_api_version__ = "2024.12"
__all__ = ["Array", "arange", "asarray", "concat", "full", "ones", "zeros", *FUNCTIONS]

globals().update(FUNCTIONS)
