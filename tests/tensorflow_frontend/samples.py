"""Calls of raw ops: one table drives values, dtypes, shapes and gradients against TensorFlow's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

_random = np.random.default_rng(3)


class Sample(NamedTuple):
    """One call: inputs in the raw op's order, attributes, how near the results have to be."""

    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = {}
    near: float = 1e-5
    gradient: bool = True


def x(*shape: int, dtype: Any = np.float32, low: float = 0.15, high: float = 0.9) -> np.ndarray:
    """Numbers at which every function of the table is smooth."""
    return np.asarray(_random.uniform(low, high, shape)).astype(dtype)


def ints(*shape: int, low: int = 0, high: int = 5, dtype: Any = np.int32) -> np.ndarray:
    """Whole numbers."""
    return np.asarray(_random.integers(low, high, shape)).astype(dtype)


def flags(*shape: int) -> np.ndarray:
    """Truth values."""
    return np.asarray(_random.integers(0, 2, shape)).astype(bool)


def words(text: str) -> list[str]:
    """The names in a text."""
    return text.split()


UNARY = words(
    """
    Abs Neg Sign Square Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan
    Sinh Cosh Tanh Asinh Atanh Erf Erfc Erfinv Lgamma Digamma Floor Ceil Rint Round IsNan IsInf
    IsFinite Sigmoid Softplus Softsign Relu Relu6 LeakyRelu Elu Selu OnesLike ZerosLike Identity
    StopGradient PreventGradient Snapshot L2Loss
    """
)
SPECIAL = words(
    """
    BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e
    BesselY0 BesselY1 Dawsn Ndtri Spence
    """
)
BINARY = words(
    """
    Add AddV2 Sub Mul RealDiv Div TruncateDiv FloorDiv FloorMod Mod TruncateMod Pow Maximum
    Minimum SquaredDifference DivNoNan MulNoNan Xdivy Xlogy Xlog1py Atan2 NextAfter
    """
)
COMPARED = ["Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "ApproximateEqual"]
SLOPES = words(
    """
    SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ReluGrad Relu6Grad
    LeakyReluGrad EluGrad SeluGrad SoftplusGrad SoftsignGrad
    """
)
WHOLE = words(
    """
    Add AddV2 Sub Mul Div TruncateDiv FloorDiv FloorMod TruncateMod Maximum Minimum
    SquaredDifference BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift
    """
)
FLOATS = [np.float32, np.float64, np.float16, tf.bfloat16.as_numpy_dtype]
EXACT = {np.float32: 2e-5, np.float64: 1e-12, np.float16: 4e-3}


def elementwise() -> Iterator[Sample]:
    """One and two operands, in every float; integers; flags; complex numbers."""
    for dtype in FLOATS:
        near = EXACT.get(dtype, 3e-2)
        narrow = dtype not in (np.float32, np.float64)
        for op in UNARY + SPECIAL:
            if narrow and op in (*SPECIAL, "Digamma", "Erfinv", "Lgamma", "Rint"):
                continue
            yield Sample(op, (x(3, 4, dtype=dtype),), near=near)
        for op in BINARY:
            if narrow and op in ("NextAfter", "Atan2", "Mod", "TruncateMod"):
                continue
            yield Sample(op, (x(3, 4, dtype=dtype), x(3, 4, dtype=dtype)), near=near)
        for op in SLOPES:
            yield Sample(op, (x(3, dtype=dtype), x(3, dtype=dtype)), near=near, gradient=False)
    for op in BINARY:
        yield Sample(op, (x(3, 1), x(2, 1, 4)))
    for op in COMPARED:
        yield Sample(op, (ints(3, 4).astype(np.float32), ints(3, 4).astype(np.float32)))
    for dtype in (np.int32, np.int64):
        for op in WHOLE:
            yield Sample(op, (ints(3, 4, dtype=dtype, high=9), ints(3, 4, dtype=dtype, low=1)))
        for op in ("Abs", "Neg", "Sign", "Square", "Invert"):
            yield Sample(op, (ints(3, 4, low=-4, dtype=dtype),))
    for op in ("LogicalAnd", "LogicalOr", "NotEqual", "Equal"):
        yield Sample(op, (flags(9, 9), flags(9, 9)))
    yield Sample("LogicalNot", (flags(9, 9),))


def rarer() -> Iterator[Sample]:
    """Functions of other domains, complex numbers."""
    yield Sample("Acosh", (x(3, low=1.2, high=3),))
    ends = np.array([-np.inf, -1.0, 0.0, 1.0, 9.0, np.inf, np.nan])
    for op in SPECIAL:
        yield Sample(op, (ends,), near=1e-12, gradient=False)
    yield Sample("Zeta", (x(3, low=1.5, high=3), x(3)), near=1e-4, gradient=False)
    yield Sample("Polygamma", (np.ones(3, np.float32), x(3)), near=1e-4, gradient=False)
    for dtype, whole in ((np.complex64, np.float32), (np.complex128, np.float64)):
        z = (x(3, dtype=whole) + 1j * x(3, dtype=whole)).astype(dtype)
        for op in ("Neg", "Exp", "Sqrt", "Square", "Conj", "Tanh", "Sigmoid", "Rsqrt"):
            yield Sample(op, (z,), near=2e-5)
        for op in ("Mul", "RealDiv", "Sub", "AddV2", "SquaredDifference"):
            yield Sample(op, (z, z[::-1].copy()), near=2e-5)
        real = {"Tout": tf.as_dtype(whole)}
        for op in ("Real", "Imag", "Angle", "ComplexAbs"):
            yield Sample(op, (z,), real, near=2e-5)
        yield Sample(
            "Complex", (x(3, dtype=whole), x(3, dtype=whole)), {"Tout": tf.as_dtype(dtype)}
        )


def others() -> Iterator[Sample]:
    """Choice, conversion, sums of many."""
    for to in (tf.float64, tf.int32, tf.bool, tf.float16, tf.bfloat16, tf.uint8, tf.complex64):
        yield Sample("Cast", (x(3, 4, high=7),), {"DstT": to}, gradient=to.is_floating)
    yield Sample("Cast", (ints(9, 9),), {"DstT": tf.float32})
    yield Sample("Bitcast", (x(3, 4),), {"type": tf.int32})
    yield Sample("Select", (flags(3), x(3, 4), x(3, 4)))
    yield Sample("Select", (flags(3, 4), x(3, 4), x(3, 4)))
    yield Sample("SelectV2", (flags(3, 1), x(3, 4), x(4)))
    yield Sample("ClipByValue", (x(3, 4), np.float32(0.3), np.float32(0.6)))
    yield Sample("AddN", ([x(3), x(3), x(3)],))
    yield Sample("IdentityN", ([x(3), x(2, 2)],))
    yield Sample("PlaceholderWithDefault", (x(3),), {"shape": [3]}, gradient=False)
    for op in ("Sum", "Prod", "Max", "Min", "Mean", "EuclideanNorm"):
        for axes in ([0], [1, -1], [], [0, 1, 2]):
            keep = {"keep_dims": bool(len(axes) % 2)}
            yield Sample(op, (x(2, 3, 4), np.array(axes, np.int32)), keep)
    for op in ("Sum", "Prod", "Max", "Min"):
        yield Sample(op, (ints(9, 9), np.array([0], np.int32)))
    for op in ("All", "Any"):
        yield Sample(op, (flags(9, 9), np.array([1], np.int32)), {"keep_dims": True})
    for op in ("ArgMax", "ArgMin"):
        for to in (tf.int32, tf.int64):
            yield Sample(op, (x(3, 4), np.int32(1)), {"output_type": to})
    for op in ("Cumsum", "Cumprod"):
        for exclusive in (False, True):
            for reverse in (False, True):
                given = {"exclusive": exclusive, "reverse": reverse}
                yield Sample(op, (x(3, 4), np.int32(1)), given)


def movement() -> Iterator[Sample]:
    """Shapes, joining, splitting, padding, diagonals."""
    i = lambda *values: np.array(values, np.int32)  # noqa: E731 -- as short as a literal
    yield Sample("Reshape", (x(3, 4), i(2, -1)))
    yield Sample("Transpose", (x(2, 3, 4), i(2, 0, 1)))
    yield Sample("ConjugateTranspose", (x(2, 3), i(1, 0)))
    yield Sample("ExpandDims", (x(3, 4), np.int32(-1)))
    yield Sample("Squeeze", (x(3, 1, 4, 1),), {"axis": [1]})
    yield Sample("Squeeze", (x(3, 1, 4, 1),), {"axis": []})
    yield Sample("Tile", (x(3, 4), i(2, 3)))
    yield Sample("BroadcastTo", (x(3, 1), i(2, 3, 4)))
    yield Sample("Pack", ([x(3, 4), x(3, 4)],), {"axis": 1})
    yield Sample("Unpack", (x(3, 4),), {"num": 4, "axis": 1})
    yield Sample("ConcatV2", ([x(3, 4), x(3, 2)], np.int32(1)))
    yield Sample("Concat", (np.int32(0), [x(3, 4), x(2, 4)]), gradient=False)
    yield Sample("Split", (np.int32(1), x(3, 4)), {"num_split": 2})
    yield Sample("SplitV", (x(3, 4), i(1, 3), np.int32(1)), {"num_split": 2})
    yield Sample("Slice", (x(3, 4), i(1, 0), i(2, -1)))
    yield Sample("Pad", (x(3, 4), np.array([[1, 0], [2, 1]], np.int32)))
    yield Sample("PadV2", (x(3, 4), np.array([[1, 0], [2, 1]], np.int32), np.float32(7)))
    for mode in ("REFLECT", "SYMMETRIC"):
        given = np.array([[1, 2], [2, 0]], np.int32)
        yield Sample("MirrorPad", (x(3, 4), given), {"mode": mode}, gradient=False)
    yield Sample("ReverseV2", (x(3, 4), i(1)))
    yield Sample("Roll", (x(3, 4), i(1, -2), i(0, 1)))
    yield Sample("Fill", (i(3, 4), np.float32(2)))
    yield Sample("OneHot", (ints(3, 4), np.int32(5), np.float32(2), np.float32(-1)), {"axis": 1})


def diagonals() -> Iterator[Sample]:
    """Bands and diagonals, blocks of space and depth, strided slices."""
    i = lambda *values: np.array(values, np.int32)  # noqa: E731 -- as short as a literal
    yield Sample("MatrixBandPart", (x(2, 4, 4), np.int64(1), np.int64(-1)))
    yield Sample("Diag", (x(3, 2),))
    yield Sample("DiagPart", (x(3, 2, 3, 2),))
    yield Sample("MatrixDiag", (x(2, 3),))
    yield Sample("MatrixDiagPart", (x(2, 3, 4),))
    yield Sample("MatrixSetDiag", (x(2, 3, 3), x(2, 3)))
    for op in ("MatrixDiagV2", "MatrixDiagV3"):
        given = (x(2, 3), i(0), np.int32(-1), np.int32(-1), np.float32(0))
        yield Sample(op, given, gradient=op == "MatrixDiagV3")
    for op in ("MatrixDiagPartV2", "MatrixDiagPartV3"):
        yield Sample(op, (x(2, 3, 4), i(1), np.float32(0)), gradient=False)
    for op in ("MatrixSetDiagV2", "MatrixSetDiagV3"):
        yield Sample(op, (x(2, 3, 3), x(2, 3), i(0)), gradient=op == "MatrixSetDiagV3")
    yield Sample("DepthToSpace", (x(2, 2, 3, 8),), {"block_size": 2})
    yield Sample("SpaceToDepth", (x(2, 4, 6, 2),), {"block_size": 2})
    yield Sample("SpaceToBatchND", (x(2, 4, 5, 2), i(2, 2), np.array([[0, 0], [0, 1]], np.int32)))
    yield Sample("BatchToSpaceND", (x(8, 2, 3, 2), i(2, 2), np.array([[0, 0], [0, 1]], np.int32)))
    masks = [
        ((i(1, 0), i(3, 4), i(1, 2)), {}),
        ((i(-1, 3), i(0, 0), i(-1, -2)), {"end_mask": 1}),
        ((i(1, 0), i(2, 0), i(1, 1)), {"shrink_axis_mask": 1, "begin_mask": 2, "end_mask": 2}),
        ((i(0, 0, 1), i(0, 0, 2), i(1, 1, 1)), {"ellipsis_mask": 1, "new_axis_mask": 2}),
        ((i(2, 0), i(1, 4), i(1, 1)), {}),
    ]
    for given, attrs in masks:
        yield Sample("StridedSlice", (x(3, 4), *given), attrs)
    made = (i(3, 4), i(1, 0), i(3, 4), i(1, 2), x(2, 2))
    yield Sample("StridedSliceGrad", made)
    given = (x(3, 4), i(1, 0), i(3, 4), i(1, 2), x(2, 2))
    yield Sample("TensorStridedSliceUpdate", given)


def indexing() -> Iterator[Sample]:
    """Positions that are data."""
    yield Sample("Gather", (x(5, 2), ints(3)), gradient=False)
    yield Sample("GatherV2", (x(2, 5, 3), ints(2, 2), np.int32(1)))
    yield Sample("GatherV2", (x(2, 5, 3), ints(2, 4), np.int32(1)), {"batch_dims": 1})
    yield Sample("GatherNd", (x(5, 5, 2), ints(3, 2)))
    yield Sample("ScatterNd", (ints(4, 1), x(4, 2), np.array([5, 2], np.int32)))
    for op in ("Add", "Sub", "Update", "Min", "Max"):
        places = np.array([[3], [0]], np.int32)
        gradient = op in ("Add", "Sub", "Update")
        yield Sample(f"TensorScatter{op}", (x(5, 2), places, x(2, 2)), gradient=gradient)
    for op in ("Sum", "Prod", "Max", "Min"):
        places = np.array([1, 0, 1, -1], np.int32)
        given = (x(4, 2), places, np.int32(3))
        yield Sample(f"UnsortedSegment{op}", given, gradient=op == "Sum")
    yield Sample("TopKV2", (x(3, 6), np.int32(2)))
    line = np.sort(x(1, 6))
    yield Sample("LowerBound", (line, x(1, 4)))
    yield Sample("UpperBound", (line, x(1, 4)))
    yield Sample("InvertPermutation", (np.array([2, 0, 1, 3], np.int32),))
    yield Sample("InTopKV2", (x(4, 5), ints(4), np.int32(2)))
    yield Sample("InTopK", (x(4, 5), ints(4)), {"k": 2})
    yield Sample("NthElement", (ints(3, 6, high=90), np.int32(2)), gradient=False)
    yield Sample("NthElement", (ints(3, 6, high=90), np.int32(1)), {"reverse": True})
    yield Sample("UnravelIndex", (ints(4, high=24), np.array([2, 3, 4], np.int32)))
    ends = np.array([0.2, 0.8], np.float32)
    yield Sample("HistogramFixedWidth", (x(4, 5), ends, np.int32(5)))


def products() -> Iterator[Sample]:
    """Matrices, convolutions, pools."""
    for a in (False, True):
        for b in (False, True):
            first, second = (x(4, 3) if a else x(3, 4)), (x(5, 4) if b else x(4, 5))
            yield Sample("MatMul", (first, second), {"transpose_a": a, "transpose_b": b})
    for op in ("BatchMatMul", "BatchMatMulV2"):
        yield Sample(op, (x(2, 3, 4), x(2, 5, 4)), {"adj_y": True})
    yield Sample("BatchMatMulV2", (x(2, 1, 3, 4), x(3, 4, 5)))
    given = (x(2, 3, 4), x(2, 4, 5))
    yield Sample("BatchMatMulV3", given, {"Tout": tf.float32}, gradient=False)
    given = (
        ints(3, 40, low=-99, high=99, dtype=np.int8),
        ints(40, 2, low=90, high=99, dtype=np.int8),
    )
    yield Sample("BatchMatMulV3", given, {"Tout": tf.int32})
    for equation, *shapes in (
        ("abc,acd->abd", (2, 3, 4), (2, 4, 5)),
        ("ij,kj->ki", (3, 4), (5, 4)),
        ("abc->ca", (2, 3, 4)),
        ("...x,xy->...y", (2, 5, 3), (3, 4)),
        ("a...,...ab->b...", (3, 2), (2, 3, 4)),
        ("...ab,...bc->...ac", (2, 5, 3, 4), (5, 4, 2)),
    ):
        yield Sample("Einsum", ([x(*s) for s in shapes],), {"equation": equation})


def convolutions() -> Iterator[Sample]:
    """Plain and depthwise ones, of images."""
    image, kernel = (2, 7, 6, 4), (3, 2, 4, 6)
    for padding in ("SAME", "VALID", "EXPLICIT"):
        for stride, gap in ((1, 1), (2, 1), (1, 2)):
            attrs = {
                "strides": [1, stride, stride, 1], "padding": padding,
                "dilations": [1, gap, gap, 1],
                "explicit_paddings": [0, 0, 1, 0, 0, 1, 0, 0] if padding == "EXPLICIT" else [],
            }  # fmt: skip
            # TensorFlow's CPU kernels have no gradients of dilated ones.
            yield Sample("Conv2D", (x(*image), x(*kernel)), attrs, gradient=gap == 1)
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    yield Sample("Conv2D", (x(*image), x(3, 3, 2, 6)), attrs)
    yield Sample("DepthwiseConv2dNative", (x(*image), x(3, 3, 4, 2)), attrs)
    attrs = {"strides": [1, 2, 2, 1], "padding": "VALID"}
    yield Sample("DepthwiseConv2dNative", (x(*image), x(3, 3, 4, 1)), attrs)
    whole = np.array(image, np.int32)
    for stride, out in ((1, (2, 5, 5, 6)), (2, (2, 3, 3, 6))):
        attrs = {"strides": [1, stride, stride, 1], "padding": "VALID"}
        yield Sample("Conv2DBackpropInput", (whole, x(*kernel), x(*out)), attrs)
        sizes = np.array(kernel, np.int32)
        yield Sample("Conv2DBackpropFilter", (x(*image), sizes, x(*out)), attrs)
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    out, sizes = (2, 7, 6, 8), np.array([3, 3, 4, 2], np.int32)
    given = (whole, x(3, 3, 4, 2), x(*out))
    yield Sample("DepthwiseConv2dNativeBackpropInput", given, attrs)
    yield Sample("DepthwiseConv2dNativeBackpropFilter", (x(*image), sizes, x(*out)), attrs)


def volumes() -> Iterator[Sample]:
    """Convolutions of volumes; pools."""
    image, volume = (2, 7, 6, 4), (1, 3, 4, 3, 2)
    attrs = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    yield Sample("Conv3D", (x(*volume), x(2, 2, 2, 2, 3)), attrs)
    size, made = np.array(volume, np.int32), (1, 3, 2, 3, 3)
    yield Sample("Conv3DBackpropInputV2", (size, x(2, 2, 2, 2, 3), x(*made)), attrs)
    size = np.array([2, 2, 2, 2, 3], np.int32)
    yield Sample("Conv3DBackpropFilterV2", (x(*volume), size, x(*made)), attrs)
    for padding in ("SAME", "VALID"):
        for k, s in ((2, 2), (3, 2), (3, 1), (2, 3)):
            attrs = {"ksize": [1, k, k, 1], "strides": [1, s, s, 1], "padding": padding}
            yield Sample("MaxPool", (x(*image),), attrs)
            for batch in (False, True):
                more = {**attrs, "include_batch_in_index": batch}
                yield Sample("MaxPoolWithArgmax", (x(*image),), more)
            yield Sample("AvgPool", (x(*image),), attrs)
    attrs = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    yield Sample("MaxPool3D", (x(*volume),), attrs)
    yield Sample("AvgPool3D", (x(*volume),), attrs)


def neural() -> Iterator[Sample]:
    """Softmax, cross entropies, biases, normalisation."""
    for dtype in (np.float32, np.float64):
        yield Sample("Softmax", (x(3, 5, dtype=dtype),))
        yield Sample("LogSoftmax", (x(3, 5, dtype=dtype),))
        labels = np.eye(5, dtype=dtype)[:3]
        yield Sample("SoftmaxCrossEntropyWithLogits", (x(3, 5, dtype=dtype), labels))
        given = (x(3, 5, dtype=dtype), ints(3))
        yield Sample("SparseSoftmaxCrossEntropyWithLogits", given)
    yield Sample("BiasAdd", (x(2, 3, 4), x(4)))
    yield Sample("BiasAdd", (x(2, 4, 3, 3), x(4)), {"data_format": "NCHW"})
    yield Sample("BiasAddV1", (x(2, 4), x(4)), gradient=False)
    yield Sample("BiasAddGrad", (x(2, 3, 4),))
    line = [x(4) for _ in range(4)]
    for training in (True, False):
        attrs = {"epsilon": 1e-3, "is_training": training}
        given = (x(3, 4, 4, 4), *line)
        yield Sample("FusedBatchNormV3", given, attrs, near=1e-4, gradient=False)
    sparse = np.array([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]], np.int64)
    values, steps = np.array([1, 1, 3, 2, 0, 2], np.int32), np.array([7, 4, 6], np.int32)
    yield Sample("CTCLoss", (x(7, 3, 5, low=-2, high=2), sparse, values, steps))
    gates = [x(3, 4), x(3, 5), x(3, 5), x(9, 20), x(5), x(5), x(5), x(20)]
    for clip in (0.4, 0.0):
        attrs = {"forget_bias": 0.5, "cell_clip": clip}
        yield Sample("LSTMBlockCell", tuple(gates), attrs, gradient=False)


def algebra() -> Iterator[Sample]:
    """Decompositions and transforms."""
    for dtype in (np.float32, np.float64):
        near = 1e-4 if dtype == np.float32 else 1e-10
        a = x(2, 3, 3, dtype=dtype)
        positive = (a @ a.transpose(0, 2, 1) + 3 * np.eye(3)).astype(dtype)
        yield Sample("Cholesky", (positive,), near=near)
        yield Sample("Lu", (positive,), near=near, gradient=False)
        yield Sample("MatrixInverse", (positive,), near=near)
        yield Sample("MatrixDeterminant", (positive,), near=near)
        yield Sample("LogMatrixDeterminant", (positive,), near=near)
        yield Sample("MatrixSolve", (positive, x(2, 3, 2, dtype=dtype)), near=near)
        yield Sample("MatrixSolve", (positive, x(2, 3, 2, dtype=dtype)), {"adjoint": True}, near)
        triangle = np.tril(positive)
        given = (triangle, x(2, 3, 2, dtype=dtype))
        yield Sample("MatrixTriangularSolve", given, near=near)
        yield Sample("MatrixTriangularSolve", given, {"adjoint": True}, near)
    for axes, suffix in ((1, ""), (2, "2D"), (3, "3D")):
        z = (x(2, 3, 4, 4) + 1j * x(2, 3, 4, 4)).astype(np.complex64)
        yield Sample(f"FFT{suffix}", (z,), near=1e-4)
        yield Sample(f"IFFT{suffix}", (z,), near=1e-4)
        size = np.array((3, 4, 4)[3 - axes :], np.int32)
        yield Sample(f"RFFT{suffix}", (x(2, 3, 4, 4), size), near=1e-4, gradient=axes < 3)
        half = (x(2, 3, 4, 3) + 0j).astype(np.complex64)
        yield Sample(f"IRFFT{suffix}", (half, size), near=1e-4, gradient=axes < 3)


def draws() -> Iterator[Sample]:
    """Random numbers: bit for bit, but for the last bits of logarithms."""
    for seed in ([1, 2], [-5, 2**31 - 1]):
        shape, given = np.array([3, 5], np.int32), np.array(seed, np.int64)
        yield Sample("StatelessRandomGetKeyCounter", (given,), near=0, gradient=False)
        for to in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
            given32 = np.array(seed, np.int32)
            attrs = {"dtype": to}
            yield Sample("StatelessRandomUniform", (shape, given32), attrs, 0, False)
            yield Sample("StatelessRandomNormal", (shape, given32), attrs, 1e-5, False)
        bounds = (np.int32(-3), np.int32(1000))
        yield Sample("StatelessRandomUniformInt", (shape, given, *bounds), near=0, gradient=False)
    key, counter = np.array([7], np.uint64), np.array([3, 4], np.uint64)
    philox = (np.array([3, 5], np.int32), key, counter, np.int32(1))
    for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2"):
        yield Sample(op, philox, {"dtype": tf.float32}, 1e-5, False)
    bounds = (np.int64(-3), np.int64(1000))
    yield Sample("StatelessRandomUniformIntV2", (*philox, *bounds), near=0, gradient=False)
    for to in (tf.uint32, tf.uint64, tf.int32, tf.int64):
        attrs = {"dtype": to}
        yield Sample("StatelessRandomUniformFullIntV2", philox, attrs, 0, False)


def rejected() -> Iterator[Sample]:
    """Numbers that are drawn until one is accepted."""
    seed, shape = np.array([3, -4], np.int32), np.array([7, 4], np.int32)
    key, counter = np.array([7], np.uint64), np.array([2**64 - 600, 4], np.uint64)
    for dtype, near in EXACT.items():
        alpha = np.array([0.3, 1.0, 2.5, 30.0], dtype)
        yield Sample("StatelessRandomGammaV2", (shape, seed, alpha), near=near, gradient=False)
        attrs = {"dtype": tf.as_dtype(dtype)}
        yield Sample("StatelessTruncatedNormal", (shape, seed), attrs, near, False)
    philox = (np.array([5, 2, 3], np.int32), key, counter, np.int32(1))
    yield Sample("StatelessRandomGammaV3", (*philox, x(2, 3, high=2)), gradient=False)
    yield Sample("StatelessTruncatedNormalV2", philox, {"dtype": tf.float32}, gradient=False)


def warped() -> Iterator[Sample]:
    """Projections of images; every mode is in `test_images.py`."""
    given = x(2, 4, 5, 3), x(1, 8), np.array([3, 6], np.int32)
    yield Sample("ImageProjectiveTransformV2", given, {"interpolation": "BILINEAR"})
    given = *given, np.array(0.5, np.float32)
    yield Sample("ImageProjectiveTransformV3", given, {"interpolation": "NEAREST"})


SAMPLES = [
    sample
    for table in (
        elementwise, rarer, others, movement, diagonals, indexing, products, convolutions, volumes,
        neural, algebra, draws, rejected, warped,
    )
    for sample in table()
]  # fmt: skip
