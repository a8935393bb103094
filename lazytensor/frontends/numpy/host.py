"""Functions that need values by their nature: they compute what they are given, silently."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.functions.entry import Function, hosted

NAMES = (
    "array2string array_repr array_str asarray_chkfinite asmatrix bartlett base_repr binary_repr "
    "blackman bmat busday_count busday_offset datetime_as_string datetime_data diag_indices "
    "format_float_positional format_float_scientific frombuffer fromfile fromiter "
    "fromregex fromstring frompyfunc genfromtxt geomspace hamming hanning indices info is_busday "
    "kaiser load loadtxt mask_indices nested_iters packbits ravel_multi_index "
    "save savetxt savez savez_compressed tril_indices triu_indices unpackbits unravel_index"
)
"""Reading, writing and printing; creation from a few numbers; data of dtypes that XLA has not."""

ABOUT = (
    "broadcast_shapes get_include get_printoptions getbufsize geterrcall isdtype isscalar "
    "issubdtype iterable mintypecode printoptions promote_types set_printoptions setbufsize "
    "seterrcall show_config show_runtime test typename"
)
"""Functions that no array is given to, or that ask only for its type: NumPy's own."""

HOST: dict[str, Function] = {
    name: hosted(name, getattr(np, name)) for name in NAMES.split() if hasattr(np, name)
}

OWN: dict[str, Any] = {name: getattr(np, name) for name in ABOUT.split() if hasattr(np, name)}
