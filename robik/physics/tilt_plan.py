"""Plans of tilt feedback for a motion: which way is up, and how the standing legs turn the base."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..dynamics import InverseDynamics
from ..errors import MechanismError
from ..feet.support import standing_points
from ..mechanism import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..motions import Motion
from ..tilt_feedback import TiltPlan
from .motion_forces import MotionForces, motion_forces

RATE = 50.0  # [Hz] of gains
BLEND = 0.1  # [s] in which a leg takes over and lets go
PIVOT = 0.5  # of the way from sole to body, the point a leg turns about: ankles and hips turn by half each
KNEES = 20.0  # cost of motors half-way between ankles and hips, over that of ankles and hips
DAMPED = 0.02  # of the largest singular value: motions with smaller ones are damped, since the leg can hardly make them


def tilt_plan(mechanism: Mechanism, motion: Motion, body: str = "", source: str = "the motion") -> TiltPlan:
    """Return the plan of tilt feedback for a motion, from 0 s on.

    `body` is the one with the sensor; the base if left out. Raise ClipError for a motion without an actuator or base,
    MechanismError for a robot that does not float, has no soles or no such body.
    """
    room = InverseDynamics(mechanism)
    if room.topology.base is None or not any(frame.is_foot for frame in mechanism.frames):
        raise MechanismError(
            f"robot {mechanism.name!r} has no base that floats on feet, so tilt feedback has nothing to right"
        )
    return plan_of(room, motion_forces(room, motion, source), body)


def plan_of(room: InverseDynamics, found: MotionForces, body: str = "") -> TiltPlan:
    """Return the plan of tilt feedback, from 0 s on, for a motion whose poses and standing feet are known.

    `body` is the one with the sensor, the base if left out; raise MechanismError for an unknown one.
    """
    if room.following_motors:
        raise MechanismError(
            f"robot {room.mechanism.name!r} has more motors than its loops leave free"
            f" ({', '.join(room.following_motors)}), for which there is no tilt feedback"
        )
    motion = found.motion
    name = body or room.topology.root or ""
    if name not in motion.bodies:
        raise MechanismError(
            f"robot {room.mechanism.name!r} has no body {name!r} for the sensor; it has {', '.join(motion.bodies)}"
        )
    assert motion.position is not None
    assert motion.quaternion is not None
    index, times = motion.bodies.index(name), motion.times - motion.times[0]
    turned = quaternion_matrices(motion.quaternion[:, index])
    every = _thinned(times)
    gains = np.zeros((len(times), len(room.mechanism.actuators), 3))
    for foot, stands in found.standing.items():
        soles = standing_points(room.mechanism, motion, foot).mean(axis=1)
        legs = motion.position[:, index] - soles
        share = _blended(stands, times)
        for k in every[share[every] > 0.0].tolist():
            twists = room.twists([name, room.mechanism.frame(foot).body], found.q[k])
            gains[k] += share[k] * _leg_gains(twists[0] - twists[1], soles[k], legs[k])
    return TiltPlan(
        body=name,
        actuators=room.mechanism.actuators,
        times=times[every],
        up=turned[every, 2, :],
        gains=np.einsum("tai,tij->taj", gains[every], turned[every]),
    )


def _thinned(times: np.ndarray) -> np.ndarray:
    """Return indices of samples about `RATE` times a second."""
    wanted = np.arange(0.0, times[-1] + 0.5 / RATE, 1.0 / RATE)
    return np.unique(np.clip(np.searchsorted(times, wanted), 0, len(times) - 1))


def _blended(stands: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return how much a foot stands, 0 to 1, changing gradually, and 0 wherever it does not."""
    if len(times) < 2:
        return stands.astype(float)
    width = max(round(BLEND / float(np.median(np.diff(times)))), 1)
    return np.asarray(uniform_filter1d(stands.astype(float), width, mode="nearest") * stands)


def _leg_gains(twist: np.ndarray, sole: np.ndarray, leg: np.ndarray) -> np.ndarray:
    """Return the actuators' changes (A, 3) that turn a body against a foot by one about the world's axes.

    The turn is about the middle of the leg: half of it is the ankle's, half the hip's. A leg that cannot do all of it
    does as much as it can. `twist` (6, A) is of the body against the foot, by actuator, about the origin; `leg` (3,)
    leads from the sole (3,) to the body [m].
    """
    length, pivot = max(float(np.linalg.norm(leg)), 1e-6), sole + PIVOT * leg
    moved = np.concatenate([twist[:3], (twist[3:] + np.cross(twist[:3].T, pivot).T) / length])
    easy = 1.0 / (1.0 + KNEES * _between(twist, sole, leg))
    u, s, v = np.linalg.svd(moved * easy, full_matrices=False)
    if not s[0] > 0.0:
        return np.zeros((twist.shape[1], 3))
    return np.asarray(easy[:, None] * v.T @ ((s / (s**2 + (DAMPED * s[0]) ** 2))[:, None] * u[:3].T))


def _between(twist: np.ndarray, sole: np.ndarray, leg: np.ndarray) -> np.ndarray:
    """Return for each actuator whether it turns a body half-way up the leg, as knees do: 1, or 0 at its ends (A,)."""
    turn = np.maximum((twist[:3] ** 2).sum(axis=0), 1e-12)
    axis = np.cross(twist[:3].T, twist[3:].T).T / turn  # the point of each axis that is nearest to the origin
    along = np.clip(leg @ (axis - sole[:, None]) / max(float(leg @ leg), 1e-12), 0.0, 1.0)
    slides = turn < 1e-9
    return np.where(slides, 1.0, (4.0 * along * (1.0 - along)) ** 4)
