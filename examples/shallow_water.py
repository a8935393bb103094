"""Shallow water on a rotating plane: an unstable jet breaks up into vortices.

The equations, in vector-invariant form, with depth h, velocity (u, v) and Coriolis parameter f:

    u_t =  (f + z) v - B_x        z = v_x - u_y                      relative vorticity
    v_t = -(f + z) u - B_y        B = g h + (u^2 + v^2) / 2          Bernoulli function
    h_t = -(u h)_x - (v h)_y

The grid is an Arakawa C grid: h in the middle of a cell, u on its east face, v on its north face,
z on its north-east corner. Arrays are `[y, x]` with a border one cell wide: x is periodic, the
walls in the north and the south are closed. Time steps are third-order Adams-Bashforth.
"""

import argparse
import json
import time

import numpy as np

GRAVITY, DEPTH, CORIOLIS = 4.0, 1.0, 1.0
JET_SPEED, JET_WIDTH = 1.0, 0.5
VISCOSITY = 1e-3
COURANT = 0.2
MIDDLE = np.s_[1:-1, 1:-1]
ADAMS_BASHFORTH = (23.0 / 12.0, -16.0 / 12.0, 5.0 / 12.0)


def grid(columns, rows, length):
    """Return cell size and the coordinates x (of columns) and y (of rows), border included."""
    d = length / columns
    x = (np.arange(columns + 2) - 0.5) * d
    y = (np.arange(rows + 2) - 0.5 - rows / 2) * d
    return d, x, y[:, np.newaxis]


def jet(d, x, y):
    """Return `(h, u, v)`: a meandering jet to the east, in balance with the slope of the water."""
    turn = 2.0 * np.pi * x / (d * (x.size - 2))
    across = (y - 0.2 * np.sin(3.0 * turn) - 0.1 * np.cos(5.0 * turn + 1.0)) / JET_WIDTH
    u = JET_SPEED / np.cosh(across) ** 2
    h = DEPTH - CORIOLIS / GRAVITY * JET_SPEED * JET_WIDTH * np.tanh(across)
    return h, u, np.zeros_like(u)


def wrap(field):
    """Fill the border of `field`: periodic in x, no gradient across the walls in y."""
    field[:, 0] = field[:, -2]
    field[:, -1] = field[:, 1]
    field[0, :] = field[1, :]
    field[-1, :] = field[-2, :]


def close(v):
    """Let nothing flow through the walls."""
    v[0, :] = 0.0
    v[-2:, :] = 0.0


def vorticity(u, v, d):
    """Return z on the north-east corners of all cells but those of the last row and column."""
    return (v[:-1, 1:] - v[:-1, :-1] - u[1:, :-1] + u[:-1, :-1]) / d


def laplacian(a, d):
    """Return the Laplacian of `a` in the middle."""
    return (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4.0 * a[MIDDLE]) / d**2


def tendencies(h, u, v, d):
    """Return the time derivatives of h, u and v in the middle."""
    flow_x = 0.5 * (h[:, :-1] + h[:, 1:]) * u[:, :-1]
    flow_y = 0.5 * (h[:-1, :] + h[1:, :]) * v[:-1, :]
    h_t = -(flow_x[1:-1, 1:] - flow_x[1:-1, :-1] + flow_y[1:, 1:-1] - flow_y[:-1, 1:-1]) / d

    spin = CORIOLIS + vorticity(u, v, d)
    spin_v = spin * 0.5 * (v[:-1, :-1] + v[:-1, 1:])
    spin_u = spin * 0.5 * (u[:-1, :-1] + u[1:, :-1])
    square_u = 0.5 * (u[1:, 1:] ** 2 + u[1:, :-1] ** 2)
    square_v = 0.5 * (v[1:, 1:] ** 2 + v[:-1, 1:] ** 2)
    bernoulli = GRAVITY * h[1:, 1:] + 0.5 * (square_u + square_v)

    u_t = 0.5 * (spin_v[1:, 1:] + spin_v[:-1, 1:]) - (bernoulli[:-1, 1:] - bernoulli[:-1, :-1]) / d
    v_t = -0.5 * (spin_u[1:, 1:] + spin_u[1:, :-1]) - (bernoulli[1:, :-1] - bernoulli[:-1, :-1]) / d
    return h_t, u_t + VISCOSITY * laplacian(u, d), v_t + VISCOSITY * laplacian(v, d)


def simulate(h, u, v, d, steps):
    """Advance `h`, `u` and `v` in place by `steps` time steps, and return the vorticity."""
    dt = COURANT * d / (np.sqrt(GRAVITY * DEPTH) + JET_SPEED)
    fields = (h, u, v)
    middles = [field[MIDDLE] for field in fields]
    past = []
    for _ in range(steps):
        for field in fields:
            wrap(field)
        close(v)
        past = [tendencies(h, u, v, d), *past[:2]]
        weights = ADAMS_BASHFORTH if len(past) == 3 else (1.0,)
        for weight, tendency in zip(weights, past, strict=False):
            for middle, change in zip(middles, tendency, strict=True):
                middle += weight * dt * change
    for field in fields:
        wrap(field)
    close(v)
    return vorticity(u, v, d)


def main():
    parser = argparse.ArgumentParser(description="shallow water: a jet breaks up")
    parser.add_argument("--columns", type=int, default=320)
    parser.add_argument("--rows", type=int, default=180)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the final vorticity")
    args = parser.parse_args()

    d, x, y = grid(args.columns, args.rows, length=16.0)
    h, u, v = jet(d, x, y)
    start = time.perf_counter()
    field = simulate(h, u, v, d, args.steps)
    checksum = float(np.abs(field).sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, field)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
