"""Functions that need values by their nature: they compute their arguments without a warning."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lazytensor.core.ir.recording import user_frame
from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.arrays.array import ndarray
from lazytensor.frontends.numpy.functions.entry import Function, dressed, hosted
from lazytensor.frontends.numpy.host.fallback import called, on_host, real
from lazytensor.frontends.numpy.interop.sharing import fetched, opened

NEEDS_VALUES = (
    "array2string array_repr array_str asarray_chkfinite base_repr binary_repr "
    "busday_count busday_offset datetime_as_string datetime_data format_float_positional "
    "format_float_scientific frompyfunc info is_busday savetxt"
)
"""Functions that write and print, and functions of dtypes that XLA lacks."""

MAKES = (
    "bartlett blackman diag_indices frombuffer fromfile fromiter fromregex fromstring genfromtxt "
    "geomspace hamming hanning indices kaiser load loadtxt mask_indices tril_indices triu_indices"
)
"""Functions that make arrays of a few numbers, of buffers and of files: nothing is pending."""

ABOUT_NAMES = (
    "broadcast_shapes get_include get_printoptions getbufsize geterrcall isdtype isscalar "
    "issubdtype iterable mintypecode printoptions promote_types set_printoptions setbufsize "
    "seterrcall show_config show_runtime test typename"
)
"""Functions that take no array, or need only its type. They are NumPy's own."""


def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    """See numpy.bmat. Names in a text are variables of the caller."""
    if not isinstance(obj, str) or gdict is not None:
        return np.bmat(real(obj), ldict, gdict)
    frame: Any = user_frame()
    names = {**frame.f_globals, **frame.f_locals}
    return np.bmat(obj, {}, {name: real(names[name]) for name in _named(obj) & names.keys()})


def saved(name: str) -> Function:
    """A function that writes arrays to a file in their layout in memory."""
    real_function = getattr(np, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        kept = {key: _as_laid_out(x) for key, x in kwargs.items()}
        return on_host(name, real_function, tuple(map(_as_laid_out, args)), kept)

    return dressed(call, real_function, laziness.COMPUTES_ARGUMENTS)


def _as_laid_out(x: Any) -> Any:
    return fetched(x) if type(x) is ndarray else x


def _named(text: str) -> set[str]:
    return set(re.split(r"[\s,;]+", text))


HOST: dict[str, Function] = {
    **{
        name: hosted(name, getattr(np, name))
        for name in f"{NEEDS_VALUES} {MAKES}".split()
        if hasattr(np, name)
    },
    **{name: saved(name) for name in ("save", "savez", "savez_compressed")},
    "asmatrix": dressed(
        lambda *args, **kwargs: called(np.asmatrix, args, kwargs),
        np.asmatrix,
        laziness.COMPUTES_ARGUMENTS,
    ),
    "bmat": dressed(bmat, np.bmat, laziness.COMPUTES_ARGUMENTS),
}


def _of_memory(real: Function, lazily: Function) -> Function:
    """`lazily`, except for memory that others write to: a lazy array would be a copy."""

    def call(*args: Any, **kwargs: Any) -> Any:
        args = opened(args)
        shown = real(*args, **kwargs)
        return shown if shown.flags.writeable else lazily(*args, **kwargs)

    return dressed(call, real, laziness.COMPUTES_ARGUMENTS)


HOST["frombuffer"] = _of_memory(np.frombuffer, HOST["frombuffer"])
OWN: dict[str, Any] = {name: getattr(np, name) for name in ABOUT_NAMES.split() if hasattr(np, name)}
