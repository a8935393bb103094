"""Gravity among N bodies: every pair attracts, and leapfrog steps keep the energy.

Two discs of light bodies around two heavy ones meet and pull tails out of each other.
"""

import argparse
import json
import time

import numpy as np

SOFTENING = 0.1
TIME_STEP = 0.01


def disc(rng, count, centre, drift):
    """Return mass, position and velocity of a heavy body with `count` light ones in orbit."""
    radius = 0.3 + 1.2 * np.sqrt(rng.random(count))
    angle = 2.0 * np.pi * rng.random(count)
    speed = 1.0 / np.sqrt(radius)
    mass = np.full(count + 1, 1e-4)
    mass[0] = 1.0
    position = np.zeros((count + 1, 3))
    position[1:, 0] = radius * np.cos(angle)
    position[1:, 1] = radius * np.sin(angle)
    position[1:, 2] = 0.05 * rng.standard_normal(count)
    velocity = np.zeros((count + 1, 3))
    velocity[1:, 0] = -speed * np.sin(angle)
    velocity[1:, 1] = speed * np.cos(angle)
    return mass, position + np.array(centre), velocity + np.array(drift)


def encounter(bodies, seed=3):
    """Return mass, position and velocity of two discs on their way to each other."""
    rng = np.random.default_rng(seed)
    left = disc(rng, bodies // 2 - 1, (-2.0, -0.8, 0.0), (0.35, 0.1, 0.0))
    right = disc(rng, bodies // 2 - 1, (2.0, 0.8, 0.0), (-0.35, -0.1, 0.0))
    return tuple(np.concatenate(pair) for pair in zip(left, right, strict=True))


def acceleration(mass, position):
    """Return the pull of all bodies on each one."""
    x, y, z = position[:, 0], position[:, 1], position[:, 2]
    dx, dy, dz = x - x[:, None], y - y[:, None], z - z[:, None]
    inverse_cube = (dx**2 + dy**2 + dz**2 + SOFTENING**2) ** -1.5
    return np.stack([(d * inverse_cube) @ mass for d in (dx, dy, dz)], axis=1)


def simulate(mass, position, velocity, steps):
    """Advance `position` and `velocity` in place by `steps` leapfrog steps."""
    pull = acceleration(mass, position)
    for _ in range(steps):
        velocity += 0.5 * TIME_STEP * pull
        position += TIME_STEP * velocity
        pull = acceleration(mass, position)
        velocity += 0.5 * TIME_STEP * pull


def energy(mass, position, velocity):
    """Return kinetic plus potential energy of all bodies."""
    kinetic = 0.5 * np.sum(mass * np.sum(velocity**2, axis=1))
    difference = position[:, None, :] - position[None, :, :]
    distance = np.sqrt(np.sum(difference**2, axis=2) + SOFTENING**2)
    potential = np.outer(mass, mass) / distance
    return kinetic - 0.5 * (np.sum(potential) - np.trace(potential))


def main():
    parser = argparse.ArgumentParser(description="N-body encounter of two discs")
    parser.add_argument("--bodies", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", metavar="FILE.npy", help="where to save the final positions")
    args = parser.parse_args()

    mass, position, velocity = encounter(args.bodies)
    before = float(energy(mass, position, velocity))
    start = time.perf_counter()
    simulate(mass, position, velocity, args.steps)
    checksum = float(np.abs(position).sum())
    seconds = time.perf_counter() - start
    after = float(energy(mass, position, velocity))
    print(f"energy {before:.6f} before, {after:.6f} after")

    if args.out:
        np.save(args.out, position)
    print(json.dumps({"seconds": seconds, "result": args.out, "checksum": checksum}))


if __name__ == "__main__":
    main()
