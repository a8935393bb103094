"""Functions that need values by their nature: they compute what they are given, silently."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.functions.entry import Function, dressed, hosted
from lazytensor.frontends.numpy.laziness import HOST as SAYS_HOST

NEEDS_VALUES = (
    "array2string array_repr array_str asarray_chkfinite asmatrix base_repr binary_repr bmat "
    "busday_count busday_offset datetime_as_string datetime_data format_float_positional "
    "format_float_scientific frompyfunc info is_busday nested_iters "
    "save savetxt savez savez_compressed"
)
"""Writing and printing; data of dtypes that XLA has not."""

MAKES = (
    "bartlett blackman diag_indices frombuffer fromfile fromiter fromregex fromstring genfromtxt "
    "geomspace hamming hanning indices kaiser load loadtxt mask_indices tril_indices triu_indices"
)
"""Arrays of a few numbers, of buffers and files: there is nothing to wait for."""

ABOUT = (
    "broadcast_shapes get_include get_printoptions getbufsize geterrcall isdtype isscalar "
    "issubdtype iterable mintypecode printoptions promote_types set_printoptions setbufsize "
    "seterrcall show_config show_runtime test typename"
)
"""Functions that no array is given to, or that ask only for its type: NumPy's own."""

HOST: dict[str, Function] = {
    name: hosted(name, getattr(np, name))
    for name in f"{NEEDS_VALUES} {MAKES}".split()
    if hasattr(np, name)
}


def _of_memory(real: Function, lazily: Function) -> Function:
    """What shows memory that others write to is NumPy's own: a lazy array would be a copy."""

    def call(*args: Any, **kwargs: Any) -> Any:
        shown = real(*args, **kwargs)
        return shown if shown.flags.writeable else lazily(*args, **kwargs)

    return dressed(call, real, SAYS_HOST)


HOST["frombuffer"] = _of_memory(np.frombuffer, HOST["frombuffer"])
OWN: dict[str, Any] = {name: getattr(np, name) for name in ABOUT.split() if hasattr(np, name)}
