"""PhysX's gears, and racks on pinions, as couplings of the joints that they name.

A gear ties how two bodies turn about the x axes of its own two frames: ratio · ω₀ + ω₁ = 0, as wheels that roll on each
other turn. A rack slides with the rim of its pinion: ω₀ = ± ratio · v₁, the ratio in degrees per unit of length, the
sign by where the rack is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import radians
from typing import TYPE_CHECKING

import numpy as np

from ...mechanism import WORLD, Coupling, Pose
from ..assembly.open_joint import OpenJoint
from ..imported import Notes
from ..names import free_name
from .joints import Joints
from .scene import Scene, number

if TYPE_CHECKING:
    from pxr import Sdf, Usd

GEAR, RACK = ("physics:hinge0", "physics:hinge1"), ("physics:hinge", "physics:prismatic")
TYPES = {
    "PhysxPhysicsGearJoint": GEAR,
    "PhysicsGearJoint": GEAR,
    "PhysxPhysicsRackAndPinionJoint": RACK,
    "PhysicsRackAndPinionJoint": RACK,
}
ALONG = 0.99  # cosine between a gear's axis and its joint's: with less, the one says nothing of the other
BESIDE = (
    1e-3  # units of length: a rack nearer to its pinion's axis is on neither side, and counts as the ratio's sign says
)


class Gears:
    """Reads the gears of a scene; `names` are those of its joints, by path."""

    def __init__(
        self, scene: Scene, reader: Joints, names: Mapping[Sdf.Path, str], joints: Iterable[OpenJoint], notes: Notes
    ) -> None:
        self.scene, self.reader, self.names, self.notes = scene, reader, names, notes
        self.joints = {joint.name: joint for joint in joints if joint.type in ("revolute", "prismatic")}
        self.poses = {**scene.poses, WORLD: Pose()}

    def couplings(self, taken: Iterable[str]) -> Iterator[Coupling]:
        """Yield the couplings that gears and racks make."""
        used = set(taken)
        for prim in self.scene.prims:
            relations = TYPES.get(str(prim.GetTypeName()))
            if relations is None or prim.GetAttribute("physics:jointEnabled").Get() is False:
                continue
            found = self._coupling(prim, relations, free_name(prim.GetName(), used))
            if found is None:
                why = (
                    "it does not name the two joints that its bodies hang on, about its own axes, so the gear was"
                    " left out"
                )
                self.notes.add(why, prim.GetName())
            else:
                used.add(found.name)
                yield found

    def _coupling(self, prim: Usd.Prim, relations: tuple[str, str], name: str) -> Coupling | None:
        """Return the second joint follows the first, from where both stand."""
        tied = [self._joint(prim, relation) for relation in relations]
        ends = [self.reader.end(prim, side) for side in ("0", "1")]
        frames = [self.poses[body] @ pose for body, pose in ends]
        kinds = ("revolute", "revolute" if relations is GEAR else "prismatic")
        signs = [
            self._sign(joint, body, frame) if joint is not None and joint.type == kind else 0.0
            for joint, (body, _), frame, kind in zip(tied, ends, frames, kinds, strict=True)
        ]
        leader, follower = tied
        multiplier = self._multiplier(prim, relations, frames) * signs[0] * signs[1]
        if leader is None or follower is None or leader is follower or not 0.0 < abs(multiplier) < np.inf:
            return None
        offset = follower.stored[0] - multiplier * leader.stored[0]
        return Coupling(name, follower.name, leader.name, (offset, multiplier))

    def _joint(self, prim: Usd.Prim, relation: str) -> OpenJoint | None:
        targets = prim.GetRelationship(relation).GetTargets() if prim.HasRelationship(relation) else []
        return self.joints.get(self.names.get(targets[0], "")) if len(targets) == 1 else None

    def _sign(self, joint: OpenJoint, body: str, frame: Pose) -> float:
        """Return 1 where the body moves along or about the frame's x axis as the joint's coordinate grows.

        -1 where it moves against it, else 0.
        """
        side = {joint.child: 1.0, joint.parent: -1.0}.get(body, 0.0)
        own = joint.far if body == joint.child else joint.near
        along = float((self.poses[body] @ own).matrix[:, 0] @ frame.matrix[:, 0])
        return side * float(np.sign(along)) if abs(along) > ALONG else 0.0

    def _multiplier(self, prim: Usd.Prim, relations: tuple[str, str], frames: list[Pose]) -> float:
        """Return what the second body does per radian of the first, along or about the axes of the frames."""
        if relations is GEAR:
            return -number(prim, "physics:gearRatio", 1.0)
        turn = radians(number(prim, "physics:ratio", 1.0)) / self.scene.meters
        axis, slide = frames[0].matrix[:, 0], frames[1].matrix[:, 0]
        rim = float(np.cross(axis, np.subtract(frames[1].position, frames[0].position)) @ slide)
        side = np.sign(rim) if abs(rim) > BESIDE * self.scene.meters else 1.0
        return float(side) / turn if turn else 0.0
