"""Calls of the raw ops that TensorFlow's bridge lowers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.tensorflow_frontend.samples import Sample, ints, x


def images() -> Iterator[Sample]:
    """Colours, sizes, patches."""
    photo = x(2, 4, 5, 3)
    yield Sample("AdjustContrastv2", (photo, np.float32(1.4)), gradient=False)
    yield Sample("AdjustHue", (photo, np.float32(0.2)), gradient=False)
    yield Sample("AdjustSaturation", (photo, np.float32(0.7)), gradient=False)
    yield Sample("RGBToHSV", (photo,), gradient=False)
    yield Sample("HSVToRGB", (photo,), gradient=False)
    for size in ((7, 9), (3, 2)):
        for given in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            to = np.array(size, np.int32)
            yield Sample("ResizeBilinear", (photo, to), given, near=1e-4)
            yield Sample("ResizeNearestNeighbor", (photo, to), given, gradient=False)
            yield Sample("ResizeBilinearGrad", (x(2, *size, 3), photo), given, gradient=False)
    attrs = {"ksizes": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "rates": [1, 1, 1, 1]}
    yield Sample("ExtractImagePatches", (photo,), attrs | {"padding": "SAME"})
    yield Sample("BatchToSpace", (x(8, 2, 3, 2), np.zeros((2, 2), np.int32)), {"block_size": 2})
    padding = np.array([[0, 0], [0, 1]], np.int32)
    yield Sample("SpaceToBatch", (x(2, 4, 5, 2), padding), {"block_size": 2})
    for mode in ("REFLECT", "SYMMETRIC"):
        padding = np.array([[1, 0], [1, 2]], np.int32)
        yield Sample("MirrorPadGrad", (x(4, 6), padding), {"mode": mode}, gradient=False)
    boxes = np.sort(x(6, 2, 2), 1).reshape(6, 4)
    chosen = (boxes, x(6), np.int32(4), np.float32(0.3), np.float32(0.2))
    given = {"pad_to_max_output_size": True}
    yield Sample("NonMaxSuppressionV4", chosen, given, gradient=False)


def neural() -> Iterator[Sample]:
    """Pools and their gradients' gradients, normalisation, quantisation."""
    image, window = x(2, 6, 6, 3), np.array([1, 2, 2, 1], np.int32)
    pooled, attrs = image.reshape(2, 3, 2, 3, 2, 3).max((2, 4)), {"padding": "VALID"}
    yield Sample("MaxPoolV2", (image, window, window), attrs)
    yield Sample("MaxPoolGradV2", (image, pooled, x(2, 3, 3, 3), window, window), attrs)
    yield Sample("MaxPoolGradGradV2", (image, pooled, image, window, window), attrs, gradient=False)
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    yield Sample("MaxPoolGradGrad", (image, pooled, image), attrs, gradient=False)
    volume = x(1, 2, 4, 4, 2)
    least = volume.reshape(1, 1, 2, 2, 2, 2, 2, 2).max((2, 4, 6))
    attrs = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
    yield Sample("MaxPool3DGradGrad", (volume, least, volume), attrs, gradient=False)
    yield Sample("LRN", (x(1, 2, 2, 7),), {"depth_radius": 2}, near=1e-4)
    given = (x(1, 2, 2, 7), x(1, 2, 2, 7), x(1, 2, 2, 7))
    yield Sample("LRNGrad", given, {"depth_radius": 2}, near=1e-4, gradient=False)
    attrs = {"strides": [1, 2, 1, 1], "padding": "SAME"}
    yield Sample("Conv", (x(2, 7, 6, 4), x(3, 2, 4, 5)), attrs, near=1e-4, gradient=False)
    wide, low, high = x(3, 4, low=-9, high=9), np.float32(-5), np.float32(4)
    for bits in (8, 4):
        attrs = {"num_bits": bits}
        yield Sample("FakeQuantWithMinMaxArgs", (wide,), attrs)
        yield Sample("FakeQuantWithMinMaxArgsGradient", (x(3, 4), wide), attrs, gradient=False)
        yield Sample("FakeQuantWithMinMaxVars", (wide, low, high), attrs)
        given = (x(3, 4), wide, low, high)
        yield Sample("FakeQuantWithMinMaxVarsGradient", given, attrs, gradient=False)
        lows, highs = x(4, low=-5, high=-4), x(4, low=3, high=5)
        yield Sample("FakeQuantWithMinMaxVarsPerChannel", (wide, lows, highs), attrs)
        given = (x(3, 4), wide, lows, highs)
        yield Sample("FakeQuantWithMinMaxVarsPerChannelGradient", given, attrs, gradient=False)
        given = (wide, low, high)
        yield Sample("QuantizeAndDequantizeV2", given, attrs | {"range_given": True})
        given_range = attrs | {"range_given": True}
        yield Sample("QuantizeAndDequantizeV4", given, given_range, gradient=False)
        yield Sample("QuantizeAndDequantizeV3", (*given, np.int32(bits)))


def functions() -> Iterator[Sample]:
    """Special functions, counts, sums along lines and of segments."""
    for dtype in (np.float32, np.float64):
        near = 2e-5 if dtype == np.float32 else 1e-9
        a, b = x(3, 4, dtype=dtype), x(3, 4, dtype=dtype)
        yield Sample("Betainc", (a, b, x(3, 4, dtype=dtype)), near=near)
        yield Sample("Igamma", (a, b), near=near)
        yield Sample("Igammac", (a, b), near=near)
        yield Sample("IgammaGradA", (a, b), near=near, gradient=False)
        yield Sample("RandomGammaGrad", (a, b), near=1e-4, gradient=False)
        for exclusive in (False, True):
            attrs = {"exclusive": exclusive, "reverse": not exclusive}
            yield Sample("CumulativeLogsumexp", (a, np.int32(1)), attrs, near=near)
    for dtype in (np.int32, np.int64, np.uint8, np.int16):
        yield Sample("PopulationCount", (ints(9, low=0, high=100, dtype=dtype),))
    yield Sample("Bucketize", (x(9),), {"boundaries": [0.3, 0.5]})
    yield Sample("Cross", (x(2, 3), x(2, 3)))
    yield Sample("ToBool", (x(1),))
    given = {"src_format": "NHWC", "dst_format": "NCHW"}
    yield Sample("DataFormatDimMap", (ints(9, 9, low=-4, high=4),), given)
    yield Sample("DataFormatVecPermute", (ints(4, 2).repeat(1, 0),), given)
    yield Sample("Bincount", (ints(70), np.int32(6), x(70)), gradient=False)
    yield Sample("DenseBincount", (ints(70), np.int32(6), x(70)), gradient=False)
    yield Sample("DenseBincount", (ints(9, 9), np.int32(6), x(9, 9)), gradient=False)
    for op in ("Sum", "Prod", "Max", "Min"):
        places = np.array([0, 0, 1, 3], np.int32)
        yield Sample(f"Segment{op}V2", (x(4, 2), places, np.int32(4)), gradient=False)
    yield Sample("LinSpace", (np.float32(0.5), np.float32(2.5), np.int32(7)), gradient=False)
    yield Sample("ApproxTopK", (x(3, 8),), {"k": 3}, gradient=False)


def older() -> Iterator[Sample]:
    """Names that newer ones have taken the place of."""
    yield Sample("Reverse", (x(3, 4), np.array([True, False])), gradient=False)
    yield Sample("EnsureShape", (x(3, 4),), {"shape": [3, None]})
    yield Sample("CheckNumerics", (x(3, 4),), {"message": "here"})
    line = [x(4) for _ in range(4)]
    for op in ("FusedBatchNorm", "FusedBatchNormV2"):
        attrs = {"epsilon": 1e-3, "is_training": False}
        yield Sample(op, (x(3, 4, 4, 4), *line), attrs, near=1e-4, gradient=False)
    for op in ("FusedBatchNormGrad", "FusedBatchNormGradV2"):
        given = (x(3, 4, 4, 4), x(3, 4, 4, 4), *line[:3])
        attrs = {"epsilon": 1e-3, "is_training": False}
        yield Sample(op, given, attrs, near=1e-4, gradient=False)
    shape, seed = np.array([3, 5], np.int32), np.array([1, 2], np.int32)
    attrs = {"dtype": np.uint64}
    yield Sample("StatelessRandomUniformFullInt", (shape, seed), attrs, 0, False)


def movement() -> Iterator[Sample]:
    """Lines reversed, tiles, banded matrices."""
    for dtype in (np.float32, np.float64, np.int32):
        given = x(3, 5, 2, high=9).astype(dtype), np.array([1, 3, 5], np.int64)
        yield Sample("ReverseSequence", given, {"seq_dim": 1})
    yield Sample("SparseMatMul", (x(3, 4), x(4, 2)), {"a_is_sparse": True})
    yield Sample("TridiagonalMatMul", (x(1, 4), x(1, 4), x(1, 4), x(4, 3)))
    bands = x(3, 4) + np.array([[0], [3], [0]], np.float32)
    yield Sample("TridiagonalSolve", (bands, x(4, 2)), {"partial_pivoting": False})
    yield Sample("XlaSplitND", (x(4, 6),), {"N": 4, "num_splits": [2, 2]}, gradient=False)
    parts = [x(2, 3) for _ in range(4)]
    yield Sample("XlaConcatND", (parts,), {"num_concats": [2, 2]}, gradient=False)


SAMPLES = [sample for table in (images, neural, functions, older, movement) for sample in table()]
