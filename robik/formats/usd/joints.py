"""Joints of UsdPhysics as joints of ours.

A joint has a frame on each of its two bodies, and moves along or about axes of that frame. A plain `PhysicsJoint` is
free in all six of them but for what its limits lock (low above high, or equal).
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, pi, radians
from typing import TYPE_CHECKING

import numpy as np

from ...errors import FormatError
from ...mechanism import JOINT_TYPES, WORLD, Body, Pose
from ...mechanism.joints import MOTIONS, SLIDES, TURNS
from ..assembly.open_joint import OpenJoint, joint_values, turned_round, with_frame
from ..imported import Notes
from ..names import free_name
from .scene import Scene, number, rotation, schemas_of, vector

if TYPE_CHECKING:
    from pxr import Usd

USD_MOTIONS = dict(zip(("transX", "transY", "transZ", "rotX", "rotY", "rotZ"), MOTIONS, strict=True))
AXES = {"X": 0, "Y": 1, "Z": 2}
DRIVES = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}
TYPES = {"PhysicsRevoluteJoint": "revolute", "PhysicsPrismaticJoint": "prismatic", "PhysicsSphericalJoint": "spherical",
         "PhysicsFixedJoint": "fixed"}  # fmt: skip
Limits = dict[str, tuple[float, float]]


class Joints:
    """Reads the joints of a scene; `bodies` are those that they need beside the scene's own."""

    def __init__(self, scene: Scene, notes: Notes) -> None:
        self.scene, self.notes = scene, notes
        self.bodies: list[Body] = []
        self.poses = {**scene.poses, WORLD: Pose()}

    def read(self, prim: Usd.Prim, name: str) -> list[OpenJoint]:
        """Return the joints that a prim becomes; none where it is switched off or ties nothing."""
        if prim.GetAttribute("physics:jointEnabled").Get() is False:
            self.notes.add("it is switched off, so it was left out", name)
            return []
        kind = prim.GetTypeName()
        (parent, near), (child, far) = self.end(prim, "0"), self.end(prim, "1")
        if kind == "PhysicsSphericalJoint" and "MjcEqualityConnectAPI" in schemas_of(prim) and self._ends_at_body(prim):
            here = self.poses[parent].point(
                near.position
            )  # the schema's connect has one anchor: its halves coincide as stored
            far = Pose.of(far.matrix, self.poses[child].inverse().point(here))
        if parent == child:
            self.notes.add("it ties nothing that moves to anything else, so it was left out", name)
            return []
        if kind == "PhysicsDistanceJoint":
            reach = (number(prim, "physics:minDistance", -1.0), number(prim, "physics:maxDistance", -1.0))
            return self._distance(OpenJoint(name, "spherical", parent, child, near=near, far=far), reach)
        if kind in TYPES:
            joint = self._simple(prim, name, TYPES[kind], parent, child, near, far)
        elif kind == "PhysicsJoint":
            joint = self._six(prim, name, parent, child, near, far)
            reach = (number(prim, "limit:distance:physics:low", -inf), number(prim, "limit:distance:physics:high", inf))
            if reach != (-inf, inf):
                if (joint.type, joint.limits, joint.actuated) == ("free", (), False):
                    return self._distance(replace(joint, type="spherical"), reach)
                self.notes.add(
                    "only a joint without other limits and drives can keep a distance, so that limit was left out", name
                )
        else:
            self.notes.add(f"a {kind} is not read, so it was left out", name)
            return []
        joint = turned_round(joint) if child == WORLD else joint
        return [self._stored(joint)]

    def end(self, prim: Usd.Prim, side: str) -> tuple[str, Pose]:
        """Return the body on one side ("0" or "1") of a joint, and the joint's frame [m] in it.

        Raise FormatError if the body is missing or a number is not finite.
        """
        relationship = prim.GetRelationship(f"physics:body{side}")
        targets = relationship.GetForwardedTargets() if relationship else []
        position = vector(prim, f"physics:localPos{side}")
        if position is None:
            position = np.zeros(3)
        if not np.isfinite(position).all():
            raise FormatError(f"joint {prim.GetPath()}: its place on body{side} must be finite")
        turn = rotation(prim, f"physics:localRot{side}").matrix
        if not targets:
            body, T = WORLD, np.eye(4)
            T[:3, :3] = self.scene.up * self.scene.meters
        else:
            target = self.scene.stage.GetPrimAtPath(targets[0])
            if not target:
                raise FormatError(f"joint {prim.GetPath()}: its body{side} is {targets[0]}, which is not there")
            body, T = self.scene.body_of(target), self.scene.in_body(target)
        R = T[:3, :3] / np.linalg.norm(T[:3, :3], axis=0)
        if np.linalg.det(R) < 0:
            R = R * [-1, 1, 1]
        return body, Pose.of(R @ turn, T[:3, :3] @ position + T[:3, 3])

    def _ends_at_body(self, prim: Usd.Prim) -> bool:
        """Return whether its second end is a body or the world, not a prim on one."""
        relationship = prim.GetRelationship("physics:body1")
        targets = relationship.GetForwardedTargets() if relationship else []
        return not targets or targets[0] in self.scene.bodies

    def _simple(
        self, prim: Usd.Prim, name: str, kind: str, parent: str, child: str, near: Pose, far: Pose
    ) -> OpenJoint:
        """Return a joint of a type that USD has a name for."""
        joint = OpenJoint(name, kind, parent, child, near=near, far=far)
        if kind == "fixed":
            return joint
        axis = prim.GetAttribute("physics:axis").Get() or "X"
        if axis not in AXES:
            raise FormatError(f"joint {name!r}: its axis must be X, Y or Z, not {axis!r}")
        joint = with_frame(joint, np.roll(np.eye(3), AXES[axis], axis=0))
        if kind == "spherical":
            return replace(joint, cone=self._cone(prim, name))
        motion = joint.motions[0]
        low, high = self._bounds(
            motion, number(prim, "physics:lowerLimit", -inf), number(prim, "physics:upperLimit", inf)
        )
        if low > high:
            self.notes.add("its lower limit lies above its upper one, so it was taken for locked", name)
            return replace(joint, type="fixed")
        joint = replace(joint, limits=() if (low, high) == (-inf, inf) else ((low, high),))
        return self._with_motor(prim, joint, {DRIVES[prim.GetTypeName()]: motion})

    def _cone(self, prim: Usd.Prim, name: str) -> float:
        """Return how far a ball's axis may swing [rad]; infinite for no limit."""
        angles = [number(prim, f"physics:coneAngle{i}Limit", -1.0) for i in (0, 1)]
        given = [radians(angle) for angle in angles if angle >= 0.0]
        if len(given) == 1 or (given and given[0] != given[1]):
            self.notes.add("its cone is not a round one, so it was read as one of the smaller angle", name)
        return max(min(given), 1e-6) if given else inf

    def _six(self, prim: Usd.Prim, name: str, parent: str, child: str, near: Pose, far: Pose) -> OpenJoint:
        """Return a joint by its limits, or by the name of its type in the custom data `dofs`."""
        limits: Limits = {}
        applied = set(prim.GetAppliedSchemas())
        for usd, motion in USD_MOTIONS.items():
            low, high = prim.GetAttribute(f"limit:{usd}:physics:low"), prim.GetAttribute(f"limit:{usd}:physics:high")
            if (
                (low and low.HasAuthoredValue())
                or (high and high.HasAuthoredValue())
                or f"PhysicsLimitAPI:{usd}" in applied
            ):
                if f"PhysicsLimitAPI:{usd}" not in applied:
                    self.notes.add(
                        "it gives limits without saying that it has any (PhysicsLimitAPI); they were taken for meant",
                        name,
                    )
                limits[motion] = self._bounds(
                    motion, number(prim, low.GetName(), -inf), number(prim, high.GetName(), inf)
                )
        dofs = prim.GetCustomDataByKey("dofs")
        if not limits and dofs is not None:
            row = JOINT_TYPES.get(dofs) if isinstance(dofs, str) else None
            if row is None or row.motions is None:
                raise FormatError(
                    f"joint {name!r}: its custom data 'dofs' must name a type ({', '.join(JOINT_TYPES)}), not {dofs!r}"
                )
            joint = OpenJoint(name, row.name, parent, child, near=near, far=far, free=row.motions)
        else:
            free = tuple(m for m in MOTIONS if m not in limits or limits[m][0] < limits[m][1])
            joint = self._limited(
                _of_motions(OpenJoint(name, "general", parent, child, near=near, far=far, free=free)), limits
            )
        motions = {usd: motion for usd, motion in USD_MOTIONS.items() if motion in joint.free}
        return replace(self._with_motor(prim, joint, motions), free=joint.free if joint.type == "general" else ())

    def _limited(self, joint: OpenJoint, limits: Limits) -> OpenJoint:
        """Return the joint with the limits of its motions, which `free` still names in the file's axes."""
        unlimited = (-inf, inf)
        kept = [limits.get(motion, unlimited) for motion in joint.free]
        if set(TURNS) <= set(joint.motions):
            if any(limits.get(motion, unlimited) != unlimited for motion in TURNS):
                self.notes.add("a ball's limits are not kept", joint.name)
            kept = [limit if motion in SLIDES else unlimited for motion, limit in zip(joint.free, kept, strict=True)]
        if (
            joint.type == "planar"
        ):  # its motions are two slides and a turn in either naming, the slides in the order of the axes after it
            first = SLIDES[(TURNS.index(next(m for m in joint.free if m in TURNS)) + 1) % 3]
            if joint.free[0] != first:
                kept = [kept[1], kept[0], kept[2]]
        return replace(joint, limits=() if all(limit == unlimited for limit in kept) else tuple(kept))

    def _bounds(self, motion: str, low: float, high: float) -> tuple[float, float]:
        """Degrees and units as radians and metres."""
        unit = radians(1.0) if motion in TURNS else self.scene.meters
        return low * unit, high * unit

    def _with_motor(self, prim: Usd.Prim, joint: OpenJoint, motions: dict[str, str]) -> OpenJoint:
        """Return the joint as its drives say; `motions` are the names of its motions in USD."""
        driven = [
            n
            for s in prim.GetAppliedSchemas()
            if s.startswith("PhysicsDriveAPI:") and (n := s.partition(":")[2]) in motions
        ]
        if not driven:
            return joint
        if len(driven) < len(motions):
            self.notes.add(
                "only some of its motions have a drive, but a joint is driven as a whole: all of them got a motor",
                joint.name,
            )
        effort = inf
        for name in driven:
            unit = self.scene.kilograms * self.scene.meters * (self.scene.meters if motions[name] in TURNS else 1.0)
            effort = min(effort, number(prim, f"drive:{name}:physics:maxForce", inf) * unit)
        unit = radians(1.0) if any(motion in TURNS for motion in motions.values()) else self.scene.meters
        velocity = number(prim, "physxJoint:maxJointVelocity", inf) * unit
        for what, value in (("force", effort), ("velocity", velocity)):
            if not value > 0:
                self.notes.add(f"its drive's {what} limit is not positive, so it was taken for none", joint.name)
        return replace(
            joint,
            actuated=True,
            effort_limit=effort if effort > 0 else inf,
            velocity_limit=velocity if velocity > 0 else inf,
        )

    def _distance(self, joint: OpenJoint, reach: tuple[float, float]) -> list[OpenJoint]:
        """Return two points at a distance: a massless rod between a universal joint and a ball.

        It slides where the distance may change. `reach` is the least and greatest distance in the file's unit,
        negative for none.
        """
        low, high = max(reach[0], 0.0) * self.scene.meters, inf if reach[1] < 0 else reach[1] * self.scene.meters
        if (low, high) == (0.0, inf):
            self.notes.add("it keeps no distance, so it was left out", joint.name)
            return []
        if low > high:
            raise FormatError(
                f"joint {joint.name!r}: its least distance, {low:g} m, is more than its greatest, {high:g} m"
            )
        if high < 1e-9:
            return [joint if joint.child != WORLD else turned_round(joint)]
        if joint.child == WORLD:
            joint = turned_round(joint)
        poses = self.poses
        start, end = poses[joint.parent] @ joint.near, poses[joint.child] @ joint.far
        way = np.array(end.position) - np.array(start.position)
        length = float(np.linalg.norm(way))
        along = way / length if length > 1e-9 else np.array([0.0, 0, 1])
        across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        across /= np.linalg.norm(across)
        rod = free_name(f"{joint.name}_rod", {*self.poses, *(body.name for body in self.bodies)})
        self.bodies.append(Body(rod))
        # The rod's frame: x along the rod, y and z across, the axes of its universal joint.
        frame = Pose.of(np.column_stack([along, across, np.cross(along, across)]), start.position)
        square = Pose.of(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]), (0, 0, 0))  # its x and y are the rod's y and z
        near = poses[joint.parent].inverse() @ frame @ square
        far = poses[joint.child].inverse() @ Pose(end.position, frame.quaternion)
        hinges = OpenJoint(rod, "universal", joint.parent, rod, near=near, far=square, is_passive=True)
        if low == high:
            ball = OpenJoint(joint.name, "spherical", rod, joint.child, near=Pose((low, 0.0, 0.0)), far=far)
            return [hinges, ball]
        limits = ((low, high), *[(-inf, inf)] * 3)
        ball = OpenJoint(joint.name, "general", rod, joint.child, near=Pose(), far=far, limits=limits,
                         stored=(length, 0.0, 0.0, 0.0),
                         free=("tx", *TURNS))  # fmt: skip
        return [hinges, ball]

    def _stored(self, joint: OpenJoint) -> OpenJoint:
        """Return the joint with its coordinates' values where its bodies stand."""
        a, b = self.poses[joint.parent] @ joint.near, self.poses[joint.child] @ joint.far
        relative = a.inverse() @ b
        values = list(joint_values(joint, relative.matrix, np.array(relative.position)))
        for k, (motion, (low, high)) in enumerate(zip(joint.motions, joint.limits, strict=False)):
            if motion in TURNS and not low <= values[k] <= high:
                values[k] = next((v for v in (values[k] + 2 * pi, values[k] - 2 * pi) if low <= v <= high), values[k])
        return replace(joint, stored=tuple(values))


def _of_motions(joint: OpenJoint) -> OpenJoint:
    """Return a general joint as the type of ours that has its motions, its frame turned to that type's axes.

    `free` stays as it was.
    """
    slides, turns = [m for m in joint.free if m in SLIDES], [m for m in joint.free if m in TURNS]
    s, t = [SLIDES.index(m) for m in slides], [TURNS.index(m) for m in turns]
    count, axes = (len(s), len(t)), (0, 1, 2)
    if count == (0, 0):
        kind = "fixed"
    elif count == (0, 1):
        kind, axes = "revolute", _from(t[0])
    elif count == (1, 0):
        kind, axes = "prismatic", _from(s[0])
    elif count == (1, 1) and s == t:
        kind, axes = "cylindrical", _from(s[0])
    elif count == (0, 2):
        kind, axes = "universal", (t[0], t[1], 3 - t[0] - t[1])
    elif count == (0, 3):
        kind = "spherical"
    elif count == (3, 0):
        kind = "cartesian"
    elif count == (2, 1) and t[0] not in s:
        kind, axes = "planar", _from(t[0])
    elif count == (3, 3):
        kind = "free"
    else:
        kind = "general"
    R = np.eye(3)[:, axes]
    if np.linalg.det(R) < 0:
        R[:, 2] *= -1
    return with_frame(replace(joint, type=kind), R)


def _from(axis: int) -> tuple[int, int, int]:
    return axis, (axis + 1) % 3, (axis + 2) % 3
