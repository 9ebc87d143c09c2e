"""Contact of one frame: what it holds, and where.

A contact is a joint between the frame's body and the world. A sole holds the frame's whole pose; a sole whose points
lie on a line is an edge and may turn about it, one point may turn about all axes. A sole whose leg has no hinge to roll
it may roll about its length, as feet of such robots do: held flat it would keep the hips from swaying. A frame without
a sole holds what its target says: its pose, or its position alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Joint
from .legs import can_turn

THIN = 1e-3  # of a sole's length: a sole narrower than this is an edge


@dataclass(frozen=True)
class Contact:
    """A frame of the robot that stands for some of T samples.

    Attributes:
        name: of the frame.
        oriented: whether a frame without a sole holds its orientation, too.
        stands: (T,) whether it stands.
        position: (T, 3) where the frame's origin is held while it stands [m].
        rotation: (T, 3, 3) its axes there, in columns.
        tension: (T,) how much harder it is asked for on its way from and to where it stands, in multiples of its
            weights.
    """

    name: str
    oriented: bool
    stands: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    tension: np.ndarray

    def part(self, kept: slice | np.ndarray) -> Contact:
        """Return the contact for some of its samples."""
        return replace(
            self, stands=self.stands[kept], position=self.position[kept], rotation=self.rotation[kept],
            tension=self.tension[kept],
        )  # fmt: skip

    def moves(self) -> np.ndarray:
        """Return (T,) whether it stands on something that has moved since the sample before."""
        moved = np.zeros(len(self.stands), bool)
        shifted = (np.diff(self.position, axis=0) != 0).any(axis=1)
        turned = (np.diff(self.rotation, axis=0) != 0).any(axis=(1, 2))
        moved[1:] = self.stands[1:] & self.stands[:-1] & (shifted | turned)
        return moved


@dataclass(frozen=True, eq=False)
class Hold:
    """Freedom that a contact takes from a frame; the same object for the same contact of a robot (`hold_of`).

    Attributes:
        joint: from the world to the frame's body, in the rest pose.
        point: (3,) the joint's anchor in the frame's coordinates [m].
        axes: (3, 3) the joint's axes there, in columns.
        rolls: whether the sole is wide, and only its leg keeps it from lying level.
    """

    joint: Joint
    point: np.ndarray
    axes: np.ndarray
    rolls: bool = False

    @property
    def held_axes(self) -> np.ndarray:
        """Return whether the direction of each axis (3,) is held."""
        return np.arange(3) < {"spherical": 0, "revolute": 1}.get(self.joint.type, 3)

    def at(self, position: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the anchor (..., 3) [m] and axes (..., 3, 3) of the hold's joint for poses of its frame."""
        return position + rotation @ self.point, rotation @ self.axes

    def gap(
        self, position: np.ndarray, rotation: np.ndarray, held_position: np.ndarray, held_rotation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (...,) [m] and angles (...,) [rad] of a frame from where it is held, in what is held.

        Poses are (..., 3) [m] and (..., 3, 3).
        """
        (point, own), (place, axes) = self.at(position, rotation), self.at(held_position, held_rotation)
        distance = np.linalg.norm(point - place, axis=-1)
        if self.joint.type == "spherical":
            return distance, np.zeros_like(distance)
        if self.joint.type == "revolute":
            away = np.linalg.norm(own[..., 0] - axes[..., 0], axis=-1)
            return distance, 2.0 * np.arcsin(np.minimum(0.5 * away, 1.0))
        return distance, 2.0 * np.arcsin(np.minimum(np.linalg.norm(own - axes, axis=(-2, -1)) / np.sqrt(8.0), 1.0))


def hold_of(mechanism: Mechanism, name: str, oriented: bool, may_roll: bool = True) -> Hold:
    """Return the joint, point and axes that a contact of a frame, or body, holds.

    `oriented` says if a frame without a sole holds its orientation, too; `may_roll`, if a sole that its leg cannot
    roll may roll about its length.
    """
    hold = _hold(mechanism, name, oriented, True)
    return hold if may_roll or not hold.rolls else _hold(mechanism, name, oriented, False)


@kept_with_robot
def _hold(mechanism: Mechanism, name: str, oriented: bool, may_roll: bool) -> Hold:
    """Return what a contact holds, as `hold_of` does."""
    frame, rest = mechanism.frame(name), mechanism.rest_pose(name)
    point, axes, kind, rolls = np.zeros(3), np.eye(3), "fixed" if oriented else "spherical", False
    if frame.sole:
        points = np.array(frame.sole)
        point = points.mean(axis=0)
        _, spread, along = np.linalg.svd(points - point)
        length = float(np.linalg.norm(points[:, None] - points[None], axis=2).max())
        kind = ("spherical", "revolute", "fixed")[min(int((spread > THIN * max(length, 1e-9)).sum()), 2)]
        if rolls := may_roll and kind == "fixed" and not can_turn(mechanism, name, point, along[0]):
            kind = "revolute"
        if kind == "revolute":
            axes = np.stack([along[0], along[1], np.cross(along[0], along[1])], axis=1)
    world = rest.matrix @ axes
    joint = Joint(
        contact_name(name),
        kind,
        WORLD,
        frame.body,
        position=tuple(rest.point(point)),
        axis=tuple(world[:, 0]),
        axis2=tuple(world[:, 1]),
    )
    return Hold(joint, point, axes, rolls)


def contact_name(frame: str) -> str:
    """Return the name, which no joint of a file has, of the joint that holds a frame in contact."""
    return f"(contact of {frame})"
