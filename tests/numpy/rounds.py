"""Programs that go over arrays part by part, as loops do that are written for NumPy."""

from typing import Any

import numpy


def filled(np: Any, *shape: int) -> Any:
    """An array of different numbers."""
    return np.array(numpy.random.default_rng(7).random(shape) + 1.0)


def factored(np: Any) -> Any:
    """LU by elements: thousands of operations on a few numbers each."""
    A = filled(np, 20, 20) + 20.0 * np.eye(20)
    for i in range(20):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, 20):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return A


def rows_and_columns(np: Any) -> Any:
    """Parts that are kept, written through and overlap, large operations in between."""
    A = filled(np, 15, 15)
    row, column = A[3], A[:, 4]
    row += column
    A *= 2.0
    row[4] = 7.0
    column[:2] -= row[1:3]
    A[3:5] = A[2:4]
    total = A + 1.0
    A[0, 0] = 5.0
    row *= 3.0
    return A, row, column, total


def copies(np: Any) -> Any:
    """What was read before a write keeps its values."""
    A = filled(np, 12, 12)
    B, flat, later = A.copy(), A.ravel(), A * 1.0
    part = A[2].copy()
    A[2, :] = 0.0
    A[5] -= A[4]
    return A, B, flat, later, part


def reshaped(np: Any) -> Any:
    """A part outlives the shape of the array it was taken of."""
    A = filled(np, 144)
    part = A[10:20]
    B = A.reshape(12, 12)
    part[:5] = 1.0
    B[0] = part[0]
    return A, B, part


def filled_by_rows(np: Any) -> Any:
    """A new array, filled row by row; functions of parts that are views of them."""
    A, B = filled(np, 12, 12), np.zeros((12, 12))
    for i in range(12):
        B[i] = np.flip(A[i]) + np.dot(A[:, i], A[i])
        B[i, i] = np.sqrt(A[i, i]) + A[i].sum() + float(A[i, 0])
        B[:i, i] = numpy.ones(i) * A[i, :i]
        np.flip(B[i])[0] = -1.0
    return B


def indices(np: Any) -> Any:
    """Bounds of an index array that were checked do not hold after a write."""
    A, index = filled(np, 150), np.array(numpy.arange(120))
    first = A[index].sum()
    index[3] = 140
    return first, A[index]


def computed(np: Any) -> Any:
    """Small operations on what a large one gave."""
    A = filled(np, 30, 30)
    A *= 1.5
    for i in range(900):
        A[i % 30, i // 30] += A[(i + 1) % 30, 0]
    A += 1.0
    return A


def updated(np: Any) -> Any:
    """Small parts of a large operation's result, changed in place."""
    A, B = filled(np, 24, 24), filled(np, 24, 9)
    A *= 1.5
    for i in range(24):
        A[i, : i + 1] *= 0.5
        for k in range(9):
            A[i, : i + 1] += B[: i + 1, k] * B[i, k]
    return A, B


def picked(np: Any) -> Any:
    """Few elements, chosen by indices in arrays: copies."""
    A, x, y = filled(np, 20, 20), filled(np, 400), np.empty(200)
    index = np.array(numpy.arange(200) % 17)
    for i in range(196):
        columns = index[i : i + 3]
        y[i] = x[columns] @ x[columns + 2] + A[columns, 2].sum()
        chosen = A[i % 20, columns]
        chosen += 1.0
        y[i] += chosen[0] + A[columns][0, 1]
    y[196:] = 0.0
    return A, x, y


def written_through(np: Any) -> Any:
    """Small parts of views that no slice, reshape and transpose can make."""
    tricks = np.lib.stride_tricks
    A, x, y = filled(np, 20, 20), filled(np, 400), filled(np, 400) * 1j
    line, pairs = np.einsum("ii->i", A), tricks.as_strided(x, (100, 2), (32, 16))
    windows = tricks.sliding_window_view(x, 4, writeable=True)
    for i in range(0, 18, 2):
        line[i] = -i
        line[i : i + 2] += 1.0
        pairs[i, 1] = pairs[i + 1, 0] + i
        pairs[i : i + 2] *= 2.0
        windows[i, 2] += windows[i + 1].sum()
        y.real[i], y.imag[i : i + 2] = i, x[i : i + 2]
    return A, x, y, line, pairs, windows


def multiplied(np: Any) -> Any:
    """Large parts, read in one place: for products at first, then also to be kept and changed."""
    A = filled(np, 15, 40)
    results, kept = [], []
    for i in range(30):
        part = A[:, i:]
        results.append(A[:, i] @ part)
        if i > 20:
            part += 1.0
            kept.append(part)
            A *= 0.5
        A[0, i] = 3.0
    return [A, *results, *kept]


def counted(np: Any) -> Any:
    """Co-occurrences: indices and values are elements of arrays of bytes."""
    image = (filled(np, 40, 40) * 97).astype(numpy.uint8) % 16
    matrix, copy = np.zeros((16, 16)), np.zeros((40, 40), dtype=numpy.uint8)
    for i in range(40):
        for j in range(39):
            matrix[image[i, j], image[i, j + 1]] += 1
            copy[i, j] = image[i, j]
    return matrix, copy


def pivoted(np: Any) -> Any:
    """Rows are exchanged by lists of indices, some of which are lazy."""
    A, order = filled(np, 15, 15) % 1.0, np.arange(15)
    for k in range(14):
        p = k + np.argmax(np.abs(A[k:, k]))
        A[[k, p]] = A[[p, k]]
        order[[k, int(p)]] = order[[int(p), k]]
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A, order, A[[]], A[[0, numpy.int8(3)], [1, 2]]


def rated(np: Any) -> Any:
    """What a mask of a row chooses of it, and of a column."""
    R, chosen = filled(np, 20, 30), np.array(numpy.arange(600).reshape(20, 30) ** 2 % 7 < 3)
    y = np.empty(50)
    for i in range(20):
        y[i] = R[i, chosen[i]].sum()
    for j in range(30):
        y[20 + j] = R[chosen[:, j], j].max()
        R[chosen[:, j], j] += 0.5
    return R, y


def embedded(np: Any) -> Any:
    """Rows drawn, and what is found of them added to these, those that come twice twice."""
    W, bins, x = filled(np, 40, 8), np.zeros((3, 50)), filled(np, 40, 8)[::2]
    drawn = np.array(numpy.arange(90) ** 2 % 13)
    for i in range(80):
        ids = drawn[i : i + 4]
        np.add.at(W, ids, 0.25 * (1.0 - W[ids]))
        W[drawn[i]] -= 0.125
        np.maximum.at(bins, (i % 3, ids), float(i))
        np.subtract.at(x, (ids, 1), 1)
    return W, bins, x


def placed(np: Any) -> Any:
    """Elements at integers of NumPy's, each place once."""
    A, total = filled(np, 40, 40), 0.0
    for i, j in numpy.stack(numpy.divmod(numpy.arange(1600) * 7 % 1600, 40), axis=1):
        total += A[i, j]
    return A, [total]


def exchanged_rows(np: Any) -> Any:
    """Rows of a matrix that was computed, exchanged by lists of indices."""
    A = filled(np, 40, 50) + 1.0
    for i in range(300):
        A[[i % 40, i % 7]] = A[[i % 7, i % 40]]
    return A


def exchanged_columns(np: Any) -> Any:
    """The same of columns, and parts of them."""
    A = filled(np, 40, 50) + 1.0
    for i in range(300):
        A[:, [i % 40, i % 7]] = A[:, [i % 7, i % 40]]
        A[i % 5 : -3, [i % 4, 9]] += A[i % 5 : -3, [5, 6]]
    return A


def between(np: Any) -> Any:
    """A line that is read at one place in each round."""
    line, values = np.arange(20_000.0) * 2.0, filled(np, 20_000)
    return [sum(float(np.interp(i + 0.5, line, values)) for i in range(2_000))]


def all_elements(np: Any) -> Any:
    """Elements of a matrix, one by one, some of which are written to meanwhile."""
    A = filled(np, 40, 50) + 0.0
    total = 0.0
    for i, x in enumerate(A.flat):
        if i % 500 == 0:
            A[-1, -1] += x
        total += x
    return [total, *A.flat]


PROGRAMS = (
    *(rated, embedded, placed),
    *(factored, rows_and_columns, copies, reshaped, filled_by_rows, indices, computed),
    *(updated, picked, multiplied, written_through, counted, pivoted, between, all_elements),
    *(exchanged_rows, exchanged_columns),
)
SMALL_OPERATIONS = [
    (factored, 2),
    (filled_by_rows, 1),
    (computed, 2),
    (updated, 1),
    (picked, 0),
    (counted, 2),
    (rated, 1),
    (embedded, 4),
    (placed, 0),
    (between, 2),
    (all_elements, 8),
    (exchanged_rows, 2, 1_300),
    (exchanged_columns, 2),
]
