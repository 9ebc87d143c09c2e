"""Drives: each actuator as a spring with limits, whatever motor and gear it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from ..mechanism.model import Mechanism
from .actuators import DAMPING
from .inverse import GRAVITY, Dynamics, InverseDynamics

SATURATION = 0.1  # rad or m of error at which a motor of unknown stiffness gives all it has
SURE = 4.0  # times m g h: stiffness of motors of which nothing is known at all
LOADED = 1e-6  # N m per N m: a motor that bears less of a moment is none of the leg's
STANDING = 2.0  # times m g h: how stiff a leg should be


@dataclass(frozen=True)
class Drive:
    """An actuator's motor, seen from its joint.

    Attributes:
        stiffness: torque per error [N m/rad or N/m].
        effort: largest torque or force at rest [N m or N]; inf where unknown.
        speed: without load [rad/s or m/s]; inf where unknown.
        efficiency: share of the battery's power that is not lost in the gear.
    """

    stiffness: float
    effort: float = inf
    speed: float = inf
    efficiency: float = 1.0

    @property
    def damping(self) -> float:
        """Torque per speed [N m s/rad or N s/m]."""
        return DAMPING * self.stiffness

    @property
    def armature(self) -> float:
        """Inertia of the rotor behind the gear [kg m² or kg]: what the damping brings to rest without swinging."""
        return 0.25 * DAMPING**2 * self.stiffness


def default_drives(mechanism: Mechanism) -> dict[str, Drive]:
    """Return drives by actuator for a robot whose motors are known by its file alone, without limits of speed."""
    unknown = SURE * max(standing_stiffness(mechanism), 1e-6)
    drives = {}
    for joint in mechanism.actuated:
        stiffness = next(filter(isfinite, (joint.gain, joint.effort_limit / SATURATION)), unknown)
        for name in joint.coordinate_names:
            drives[name] = Drive(stiffness, joint.effort_limit, inf)
    return drives


def standing_stiffness(mechanism: Mechanism) -> float:
    """Return m g h [N m/rad]: how stiff a standing leg must be, or the weight bends it further and further.

    h is the height of the centre of mass in the rest pose over the lowest sole, or over the lowest body without soles.
    """
    com = sum(b.mass * b.rest_com for b in mechanism.bodies) / max(mechanism.mass, 1e-12)
    soles = [
        float((mechanism.rest_pose(frame.name)).point(corner)[2]) for frame in mechanism.frames for corner in frame.sole
    ]
    lowest = min(soles or [float(b.rest_com[2]) for b in mechanism.bodies])
    return float(mechanism.mass * GRAVITY * max(float(np.asarray(com)[2]) - lowest, 0.0))


def stiffer_drives(room: InverseDynamics, drives: Mapping[str, Drive], share: float) -> dict[str, Drive]:
    """Return drives with gains that give the softest leg at least `share` of m g h, all by the same factor."""
    least = min(standing_share(room, drives).values(), default=inf)
    factor = max(share / least, 1.0)
    return {name: replace(drive, stiffness=factor * drive.stiffness) for name, drive in drives.items()}


def file_drives(room: InverseDynamics, share: float = 0.0) -> dict[str, Drive]:
    """Return drives by actuator for a robot known by its file alone, whose softest leg has `share` of m g h at least.

    With 0, gains are the file's. Legs whose gains it leaves open, which are their user's to set, are as stiff as
    standing needs, twice.
    """
    least = share or (0.0 if knows_gains(room) else STANDING)
    return stiffer_drives(room, default_drives(room.mechanism), least)


def knows_gains(room: InverseDynamics) -> bool:
    """Return whether the file has the gain of any of the legs' motors, or the robot has no legs."""
    motors = leg_motors(room)
    known = {name for joint in room.mechanism.actuated if isfinite(joint.gain) for name in joint.coordinate_names}
    return not motors or not known.isdisjoint(motors)


def standing_share(room: InverseDynamics, drives: Mapping[str, Drive]) -> dict[str, float]:
    """Return the stiffness of each foot's leg against tipping over, in shares of m g h, by foot frame.

    The motors of a leg are springs in series: a tipping moment M between the foot and the heaviest body turns it by
    Σ τᵢ² / kᵢ · M, with τᵢ the motors' torques against a moment of 1. A leg below 1 cannot stand; one below 2 gives
    way by more than the weight is out of place.
    """
    mechanism = room.mechanism
    needed = max(standing_stiffness(mechanism), 1e-9)
    soft = np.array([1.0 / drives[name].stiffness for name in mechanism.actuators])
    shares = {}
    for foot, torques in _torques_of_legs(room).items():
        worst = float(np.linalg.eigvalsh((torques[:2] * soft) @ torques[:2].T).max())
        if worst > 0:
            shares[foot] = 1.0 / (worst * needed)
    return shares


def leg_motors(room: InverseDynamics) -> tuple[str, ...]:
    """Return the actuators of the legs: those that a moment between a foot and the heaviest body loads."""
    loaded = [np.abs(torques).max(axis=0) > LOADED for torques in _torques_of_legs(room).values()]
    bears = np.any(loaded, axis=0) if loaded else np.zeros(len(room.mechanism.actuators), bool)
    return tuple(name for name, is_loaded in zip(room.mechanism.actuators, bears, strict=True) if is_loaded)


def _torques_of_legs(room: InverseDynamics) -> dict[str, np.ndarray]:
    """Return the motors' torques (3, A) against moments of 1 N m between foot and heaviest body, by foot frame."""
    trunk = room.torques_of_moments(max(room.mechanism.bodies, key=lambda body: body.mass).name)
    feet = [frame for frame in room.mechanism.frames if frame.is_foot]
    return {frame.name: room.torques_of_moments(frame.body) - trunk for frame in feet}


def carry_weight(values: np.ndarray, dynamics: Dynamics, drives: Mapping[str, Drive]) -> np.ndarray:
    """Return set-points q + τ/k (T, A) [rad or m] that bring springs under load to where the motion is.

    The torque that counts is not beyond what a drive can give.
    """
    stiffness = np.array([drives[name].stiffness for name in dynamics.actuators])
    effort = np.array([drives[name].effort for name in dynamics.actuators])
    return np.asarray(values) + np.clip(dynamics.torque, -effort, effort) / stiffness
