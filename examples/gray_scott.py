"""Gray-Scott reaction-diffusion: one chemical eats another and makes copies of itself.

    u_t = Du lap(u) - u v^2 + F (1 - u)
    v_t = Dv lap(v) + u v^2 - (F + k) v

Each field lives in an array with a border one cell wide. The views of its middle and of the four
neighbours are made once; the loop only updates them in place and copies the border around.
"""

import argparse
import json
import time

import numpy as np

DIFFUSION_U, DIFFUSION_V = 0.16, 0.08
FEED, KILL = 0.0545, 0.062


def soup(size, seed=7):
    """Return `(U, V)`: a dish full of u, with square drops of v at random places."""
    rng = np.random.default_rng(seed)
    U = np.ones((size + 2, size + 2))
    V = np.zeros((size + 2, size + 2))
    width = 12  # a smaller drop dissolves
    for row, column in rng.integers(1, size - width, (5 + size * size // 1800, 2)):
        U[row : row + width, column : column + width] = 0.5
        V[row : row + width, column : column + width] = 0.25
    U[1:-1, 1:-1] += 0.02 * rng.standard_normal((size, size))
    return U, V


def middle_and_neighbours(F):
    """Return views of `F`: its middle, and the middle shifted north, south, west and east."""
    return F[1:-1, 1:-1], F[:-2, 1:-1], F[2:, 1:-1], F[1:-1, :-2], F[1:-1, 2:]


def wrap(F):
    """Make the border of `F` a copy of the opposite edge, so that the dish is a torus."""
    F[0, :] = F[-2, :]
    F[-1, :] = F[1, :]
    F[:, 0] = F[:, -2]
    F[:, -1] = F[:, 1]


def simulate(U, V, steps):
    """Advance `U` and `V` in place by `steps` unit time steps, and return the middle of `V`."""
    u, u_north, u_south, u_west, u_east = middle_and_neighbours(U)
    v, v_north, v_south, v_west, v_east = middle_and_neighbours(V)
    wrap(U)
    wrap(V)
    for _ in range(steps):
        lap_u = u_north + u_south + u_west + u_east - 4.0 * u
        lap_v = v_north + v_south + v_west + v_east - 4.0 * v
        reaction = u * v * v
        u += DIFFUSION_U * lap_u - reaction + FEED * (1.0 - u)
        v += DIFFUSION_V * lap_v + reaction - (FEED + KILL) * v
        wrap(U)
        wrap(V)
    return v


def main():
    parser = argparse.ArgumentParser(description="Gray-Scott reaction-diffusion on a torus")
    parser.add_argument("--size", type=int, default=512, help="cells along one side, at least 16")
    parser.add_argument("--steps", type=int, default=2000, help="time steps")
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the final field v")
    args = parser.parse_args()

    U, V = soup(args.size)
    start = time.perf_counter()
    field = simulate(U, V, args.steps)
    checksum = float(field.sum())
    seconds = time.perf_counter() - start

    if args.out:
        np.save(args.out, field)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
