"""Which of the tests in NumPy's wheel are run, and which are not, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

SITE: Final = Path(np.__file__).parents[1]
"""Where NumPy is installed; test ids begin there."""

HERE: Final = Path(__file__).parent

MODULES: Final = (
    "_core/tests/test_einsum.py",
    "_core/tests/test_function_base.py",
    "_core/tests/test_indexerrors.py",
    "_core/tests/test_indexing.py",
    "_core/tests/test_item_selection.py",
    "_core/tests/test_mem_overlap.py",
    "_core/tests/test_multiarray.py",
    "_core/tests/test_nep50_promotions.py",
    "_core/tests/test_numeric.py",
    "_core/tests/test_shape_base.py",
    "_core/tests/test_ufunc.py",
    "_core/tests/test_umath.py",
    "_core/tests/test_umath_complex.py",
    "fft/tests/test_helper.py",
    "fft/tests/test_pocketfft.py",
    "lib/tests/test_arraypad.py",
    "lib/tests/test_arraysetops.py",
    "lib/tests/test_function_base.py",
    "lib/tests/test_histograms.py",
    "lib/tests/test_index_tricks.py",
    "lib/tests/test_nanfunctions.py",
    "lib/tests/test_shape_base.py",
    "lib/tests/test_stride_tricks.py",
    "lib/tests/test_twodim_base.py",
    "lib/tests/test_type_check.py",
    "lib/tests/test_ufunclike.py",
    "linalg/tests/test_linalg.py",
    "linalg/tests/test_regression.py",
)
"""NumPy's test modules for the functions that lazy arrays have."""
