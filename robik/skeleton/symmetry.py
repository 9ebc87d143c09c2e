"""Symmetry of a robot: which motor is the counterpart of which, found by where they sit and about what they turn.

A mirror M maps a point p to p − 2 (n·p − c) n. A hinge about an axis a by the angle θ becomes one about M a by −θ, a
slide along a by d one along M a by d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import RobikError
from ..mechanism.model import Mechanism
from ..mechanism.parts import Joint

NEAR = 0.03  # of the robot's extent: as far apart counterparts may be
PARALLEL = 0.99  # cosine between their axes
NORMALS = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))  # of the planes that are tried: left and right, then front and back


@dataclass(frozen=True, kw_only=True, eq=False)
class Symmetry:
    """Mirror plane of a robot in its rest pose.

    Attributes:
        normal: (3,) of the plane.
        offset: its distance from the origin along the normal [m].
        partner: (A,) index of each actuator's counterpart, its own in the middle; -1 for none.
        sign: (A,) by which a counterpart's way from its rest value is multiplied.
        rest: (A,) values of the rest pose [rad or m].
    """

    normal: np.ndarray
    offset: float
    partner: np.ndarray
    sign: np.ndarray
    rest: np.ndarray

    @property
    def reflection(self) -> np.ndarray:
        """The mirror as a homogeneous matrix (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] -= 2.0 * np.outer(self.normal, self.normal)
        matrix[:3, 3] = 2.0 * self.offset * self.normal
        return matrix

    def mirrored(self, values: np.ndarray) -> np.ndarray:
        """Return actuator values (…, A) of the mirrored pose; motors without a counterpart keep theirs."""
        values = np.asarray(values, dtype=float)
        other = self.rest + self.sign * (values[..., self.partner] - self.rest[self.partner])
        return np.where(self.partner >= 0, other, values)


def symmetry_of(mechanism: Mechanism) -> Symmetry:
    """Return the mirror plane for which most motors have counterparts; raise RobikError where none has."""
    found = [_about(mechanism, np.array(normal)) for normal in NORMALS]
    best = max(found, key=lambda one: int((one.partner >= 0).sum()))
    sides = best.partner[best.partner >= 0] != np.flatnonzero(best.partner >= 0)
    if not sides.any():
        raise RobikError(
            f"robot {mechanism.name!r} is not symmetric: no motor on one side has a counterpart on the other"
        )
    return best


def _about(mechanism: Mechanism, normal: np.ndarray) -> Symmetry:
    """Return the symmetry about a plane through the centre of mass."""
    com = {body.name: body.rest_com for body in mechanism.bodies}
    masses = np.array([max(body.mass, 1e-9) for body in mechanism.bodies])
    offset = float(normal @ (masses @ np.array([*com.values()])) / masses.sum())
    joints = [joint for joint in mechanism.actuated for _ in joint.coordinate_names]
    partner, sign = np.full(len(joints), -1), np.ones(len(joints))
    for k, joint in enumerate(joints):
        near = [(_apart(joint, other, normal, offset, com), i) for i, other in enumerate(joints)]
        distance, i = min(near, default=(np.inf, -1))
        if distance <= NEAR * mechanism.extent:
            partner[k], sign[k] = i, _sign(joint, joints[i], normal)
    partner[[k for k in range(len(joints)) if partner[k] >= 0 and partner[partner[k]] != k]] = -1
    rest = np.array([value for joint in mechanism.actuated for value in _rest(joint)])
    return Symmetry(normal=normal, offset=offset, partner=partner, sign=sign, rest=rest)


def _rest(joint: Joint) -> tuple[float, ...]:
    return joint.rest or (0.0,) * len(joint.coordinate_names)


def _apart(joint: Joint, other: Joint, normal: np.ndarray, offset: float, com: dict[str, np.ndarray]) -> float:
    """Return how far a joint's mirror image is from another joint [m]; infinite where they do not move alike."""
    if len(joint.motions) != 1 or joint.motions != other.motions:
        return np.inf
    image = _mirror_direction(np.array(joint.axis), normal)
    axis = np.array(other.axis)
    if abs(image @ axis) < PARALLEL:
        return np.inf
    way = np.array(other.position) - _mirror_point(np.array(joint.position), normal, offset)
    aside = way - (way @ axis) * axis  # a hinge's anchor may be anywhere along its axis
    bodies = com[other.child] - _mirror_point(com[joint.child], normal, offset)
    return float(max(np.linalg.norm(aside), np.linalg.norm(bodies)))


def _sign(joint: Joint, other: Joint, normal: np.ndarray) -> float:
    """Return the sign between the ways of a joint and of its counterpart."""
    along = float(np.sign(_mirror_direction(np.array(joint.axis), normal) @ np.array(other.axis)))
    return along if joint.motions[0].startswith("t") else -along


def _mirror_direction(direction: np.ndarray, normal: np.ndarray) -> np.ndarray:
    return direction - 2.0 * (normal @ direction) * normal


def _mirror_point(point: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    return point - 2.0 * (normal @ point - offset) * normal
