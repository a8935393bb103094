"""Entries of torch's table that do not pass, by the reason. What passes must not be here."""

from __future__ import annotations

from typing import NamedTuple


class Gap(NamedTuple):
    """Why entries do not pass, what becomes of them, and in which runs."""

    reason: str
    how: str
    names: str
    runs: str


RUNS = (
    ("float32", "values"),
    ("int64", "values"),
    ("bool", "values"),
    ("bfloat16", "values"),
    ("complex64", "values"),
    ("float64", "gradient"),
    ("float32", "again"),
    ("float32", "in-place"),
    ("float32", "out"),
    ("float32", "views"),
    ("float64", "gradcheck"),
    ("float64", "gradgradcheck"),
    ("float64", "forward-mode"),
    ("float64", "forward-over-reverse"),
    ("float64", "gradcheck-in-place"),
)
"""What the whole table is run over: a dtype and a check each."""
FEWER = {
    "views": 2,
    "gradcheck": 4,
    "gradgradcheck": 4,
    "forward-mode": 4,
    "forward-over-reverse": 4,
    "gradcheck-in-place": 4,
}
"""Samples of checks that take long."""

VALUES = (
    "float32-views float32-values float32-again int64-values bool-values bfloat16-values "
    "complex64-values "
)
GRADIENTS = VALUES + "float64-gradient "
OUT = GRADIENTS + "float32-out "

DERIVATIVES = "float64-gradcheck float64-gradgradcheck float64-forward-mode "
OF_TORCH = "torch's own: the CPU does not pass either"

GAPS = (
    Gap(
        OF_TORCH,
        "neither",
        "sparse.sampled_addmm bfloat16 half cfloat chalf",
        "float64-gradcheck float64-gradgradcheck",
    ),
    Gap(OF_TORCH, "neither", "cov __rpow__", DERIVATIVES + "float64-forward-over-reverse"),
    Gap(
        OF_TORCH,
        "neither",
        "triangular_solve linalg.norm.subgradients_at_zero",
        "float64-forward-over-reverse",
    ),
    Gap(OF_TORCH, "neither", "as_strided.partial_views", "float64-gradcheck-in-place"),
    Gap(
        OF_TORCH,
        "neither",
        "sparse.mm.reduce as_strided_scatter native_group_norm nn.functional.max_unpool1d "
        "nn.functional.max_unpool2d nn.functional.max_unpool3d float normal normal.number_mean",
        "float64-gradcheck",
    ),
    Gap(
        OF_TORCH,
        "neither",
        "nn.functional.linear_cross_entropy.chunked "
        "nn.functional.linear_cross_entropy.chunked_none native_layer_norm "
        "nn.functional.ctc_loss linalg.norm.subgradients_at_zero masked.logaddexp",
        "float64-gradgradcheck",
    ),
    Gap(
        OF_TORCH,
        "neither",
        "native_batch_norm _native_batch_norm_legit _batch_norm_with_update",
        "float64-forward-mode",
    ),
    Gap("the device has no sparse layouts", "fail", "sparse.sampled_addmm", OUT),
    Gap("the device has no sparse layouts", "fail", "sparse.mm.reduce to_sparse", GRADIENTS),
    Gap(
        "the device has no sparse layouts",
        "fail",
        "to_sparse",
        "float64-gradcheck float64-gradgradcheck",
    ),
    Gap("XLA has no complex numbers of two f16", "fail", "chalf", GRADIENTS),
    Gap(
        "the imaginary part of a logarithm is right but for multiples of 2π",
        "fail",
        "logcumsumexp",
        "complex64-values",
    ),
    Gap(
        "LAPACK's, of which jax lowers none",
        "fallback",
        "geqrf linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve",
        OUT,
    ),
)


def expected(run: str) -> dict[str, str]:
    """What becomes of the entries that do not pass in a run."""
    return {name: gap.how for gap in GAPS if run in gap.runs.split() for name in gap.names.split()}
