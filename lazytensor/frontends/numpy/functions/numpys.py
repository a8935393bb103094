"""Functions that run as NumPy's own Python over lazy arrays (see `rebound.py`)."""

from __future__ import annotations

from lazytensor.frontends.numpy.functions.creation import empty
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.rebound import rebound

LAZY: dict[str, Function] = {
    name: rebound(name)
    for name in (
        "allclose angle apply_along_axis apply_over_axes array_equal array_equiv array_split "
        "common_type diff dsplit ediff1d fix flip fliplr flipud hsplit iscomplexobj "
        "isclose isrealobj nan_to_num piecewise polyadd polyder polyint "
        "polysub polyval real_if_close rollaxis rot90 sinc split trapezoid "
        "trim_zeros tril_indices_from triu_indices_from diag_indices_from unstack unwrap vsplit"
    ).split()
} | {
    "block": rebound("block", "empty"),
    "delete": rebound("delete", empty=empty),
    "insert": rebound("insert", empty=empty),
    "vander": rebound("vander", empty=empty),
}
