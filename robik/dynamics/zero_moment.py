"""Zero-moment point of a solved motion, from how its bodies move."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..mechanism.orientations import rotation
from ..motions import Motion
from .derivatives import CUTOFF, FEWEST, low_pass
from .inverse import GRAVITY


def zero_moment_points(
    mechanism: Mechanism, motion: Motion, height: float | np.ndarray = 0.0, cutoff: float | None = CUTOFF
) -> np.ndarray:
    """Return the points (T, 2) [m] where the ground's force must act so that it needs no moment along the ground.

    Momentum and angular momentum of all bodies decide it, whatever loops and motors do inside. A robot that moves
    slowly has it below its centre of mass. `height` is that of the ground [m], a number or (T,); a point is NaN
    where the robot does not press on it. `cutoff` is that of the low-pass filter before differences are taken [Hz];
    None for no filter. Raise ClipError for a motion without body poses, or a robot without mass.
    """
    if motion.position is None or motion.quaternion is None:
        raise ClipError("this motion has no body poses; solve it or use forward kinematics")
    if not mechanism.mass > 0:
        raise ClipError(f"robot {mechanism.name!r} has no mass, so no forces can be known; give its bodies masses")
    bodies = [mechanism.bodies[mechanism.body_index[name]] for name in motion.bodies]
    mass = np.array([body.mass for body in bodies])
    turns = rotation(motion.quaternion.reshape(-1, 4)).as_matrix()
    turns = turns.reshape(*motion.quaternion.shape[:2], 3, 3)
    com = motion.position + np.einsum("tbij,bj->tbi", turns, np.array([body.com for body in bodies]))
    acceleration = _second(motion.times, com, cutoff)
    spin = _spin_rate(motion.times, turns, np.array([body.inertia_matrix for body in bodies]), cutoff)
    acceleration[..., 2] += GRAVITY
    force = mass[:, None] * acceleration
    arm = com.copy()
    arm[..., 2] -= np.reshape(height, (-1, 1))
    moment = np.cross(arm, force).sum(axis=1) + spin
    whole = force.sum(axis=1)
    down = np.where(whole[:, 2] > 0, whole[:, 2], np.nan)
    return np.stack([-moment[:, 1] / down, moment[:, 0] / down], axis=1)


def point_mass_zero_moment(
    times: np.ndarray, com: np.ndarray, height: float | np.ndarray = 0.0, cutoff: float | None = CUTOFF
) -> np.ndarray:
    """Return the zero-moment point (T, 2) [m] of all mass at the centre of mass (T, 3) [m].

    `height` is that of the ground [m], a number or (T,), `cutoff` that of the low-pass filter [Hz]; None for no
    filter.
    """
    acceleration = _second(times, com, cutoff)
    down = np.maximum(GRAVITY + acceleration[:, 2], 0.2 * GRAVITY)
    return com[:, :2] - ((com[:, 2] - height) / down)[:, None] * acceleration[:, :2]


def _smooth(times: np.ndarray, values: np.ndarray, cutoff: float | None) -> np.ndarray:
    """Return values (T, …) without what is too fast."""
    if cutoff is None or len(times) < FEWEST:
        return values
    return low_pass(times, values.reshape(len(times), -1), cutoff).reshape(values.shape)


def _second(times: np.ndarray, values: np.ndarray, cutoff: float | None) -> np.ndarray:
    """Return second derivatives of values (T, …)."""
    if len(times) < FEWEST:
        return np.zeros_like(values)
    return CubicSpline(times, _smooth(times, values, cutoff))(times, 2)


def _spin_rate(times: np.ndarray, turns: np.ndarray, inertia: np.ndarray, cutoff: float | None) -> np.ndarray:
    """Return the change (T, 3) [N m] of the sum of the bodies' own angular momenta.

    Bodies have orientations (T, B, 3, 3) and inertias (B, 3, 3) [kg m²] about their centres of mass.
    """
    if len(times) < FEWEST:
        return np.zeros((len(times), 3))
    rate = CubicSpline(times, turns)(times, 1)
    across = np.einsum("tbij,tbkj->tbik", rate, turns)
    velocity = np.stack([across[..., 2, 1], across[..., 0, 2], across[..., 1, 0]], axis=-1)
    momentum = np.einsum("tbij,bjk,tblk,tbl->ti", turns, inertia, turns, velocity, optimize=True)
    return CubicSpline(times, _smooth(times, momentum, cutoff))(times, 1)
