"""Resistance of all joints along a robot's degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mechanism import Joint
from ..mechanism.topology import Flat, Topology

SLOW = 0.02  # rad/s, and sizes of the robot per second: below this speed friction is in proportion to it


@dataclass(frozen=True)
class Resistances:
    """Resistance of joints along d degrees of freedom.

        friction · q̇ / max(|q̇|, slow) + damping · q̇ + armature · q̈ + stiffness · (q − relaxed)

    At rest friction holds what it is asked to, so that its sign is unknown: below `slow` it fades.

    Attributes:
        friction, damping, armature, stiffness, relaxed: as those of a joint (d,).
        slow: speed below which friction fades (d,) [rad/s or m/s].
        place: index of the coordinate of each degree of freedom (d,).
    """

    friction: np.ndarray
    damping: np.ndarray
    armature: np.ndarray
    stiffness: np.ndarray
    relaxed: np.ndarray
    slow: np.ndarray
    place: np.ndarray

    def forces(self, q: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the forces (T, d) [N m or N] of the joints' resistance, which motors or ground have to give."""
        moving = np.clip(velocity / self.slow, -1.0, 1.0)
        pulled = self.stiffness * (q[:, self.place] - self.relaxed)
        return self.friction * moving + self.damping * velocity + self.armature * acceleration + pulled


def resistances_of(topology: Topology, flat: Flat) -> Resistances:
    """Return the resistance of a robot's joints along degrees of freedom, but of those that close its loops."""
    d = len(flat.before)
    friction, damping, armature, stiffness, relaxed = np.zeros((5, d))
    slow, place = np.full(d, SLOW), np.zeros(d, dtype=np.int64)
    for joint in topology.mechanism.joints:
        own = joint.resistance
        if joint.type == "free":
            continue
        for name, unit in zip(joint.coordinate_names, joint.coordinate_units, strict=True):
            if name in topology.dofs:
                dof, sign = topology.dofs[name]
                friction[dof], damping[dof], armature[dof] = own.friction, own.damping, own.armature
                stiffness[dof], relaxed[dof], place[dof] = own.stiffness, sign * own.relaxed, flat.dof_q[dof]
                slow[dof] = SLOW * (flat.size if unit == "m" else 1.0)
        turns = _ball(topology, flat, joint)
        friction[turns], damping[turns], armature[turns] = own.friction, own.damping, own.armature
    return Resistances(friction, damping, armature, stiffness, relaxed, slow, place)


def _ball(topology: Topology, flat: Flat, joint: Joint) -> np.ndarray:
    """Return the three degrees of freedom of a ball in the tree; none of other joints."""
    if not joint.is_ball or joint.name not in topology.joint_at:
        return np.zeros(0, dtype=np.int64)
    b = topology.joint_at[joint.name]
    dofs = np.arange(flat.at_v[flat.first[b]], flat.tip[b] + 1)
    return dofs[flat.ball[dofs] >= 0]
