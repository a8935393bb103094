"""The Python array API standard's namespace, lazily: `import lazytensor.array_api as xp`."""

from math import e, inf, nan, pi  # noqa: F401
from types import SimpleNamespace
from typing import Any

import numpy as np

from lazytensor.frontends.array_api.array import Array
from lazytensor.frontends.array_api.elementwise import NUMBERS, OPERATORS, REFLECTED
from lazytensor.frontends.array_api.functions import EXTENSIONS, FUNCTIONS

__array_api_version__ = "2024.12"
newaxis = None
float32, float64, complex64, complex128 = map(np.dtype, "fdFD")
int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool = map(np.dtype, "bhilBHIL?")
__array_namespace_info__ = np.__array_namespace_info__
globals().update(FUNCTIONS, **{n: SimpleNamespace(**f) for n, f in EXTENSIONS.items()})


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The dtype that the operands are promoted to."""
    return np.result_type(*(getattr(x, "dtype", x) for x in arrays_and_dtypes))


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether a dtype, or an array's, is promoted to another."""
    return np.can_cast(getattr(from_, "dtype", from_), to)


for _name, _function in OPERATORS.items():
    setattr(Array, f"__{_name}__", lambda *xs, f=FUNCTIONS[_function]: f(*xs))
    if _name in REFLECTED:
        setattr(Array, f"__r{_name}__", lambda x, y, f=FUNCTIONS[_function]: f(y, x))
        setattr(Array, f"__i{_name}__", lambda x, y, f=FUNCTIONS[_function]: x.become(f(x, y)))
for _kind in NUMBERS:
    setattr(Array, f"__{_kind.__name__}__", lambda x, kind=_kind: kind(x.__array__()[()]))
