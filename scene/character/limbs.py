"""Arms that hang in one pose and stretch out in the other: their ends are laid upon the character's, and point where its limbs point."""

from __future__ import annotations

import numpy as np
from bpy.types import Bone, PropertyGroup
from mathutils import Matrix, Vector

from ...robik.mechanism import Mechanism, Pose
from ..robot.parts import pose_of
from .placement import Placement, quaternions, rotation

POINT = 1e-6  # what is shorter has no direction [m]


def pointing(target: PropertyGroup, source: Matrix, frame: Pose, limb: np.ndarray | None, placed: Placement) -> Pose:
    """Where the robot's frame is if it takes the character's pose: at its source, turned as little as lets the limbs point alike.

    Args:
        source: the target's.
        frame: in its rest pose; `limb` (3,) points along its body, None where that is not known.
        placed: to the coordinates in which frame and limb are given.
    """
    seen = pose_of(source)
    where, oriented = placed.apply(np.array([seen.position]), rotation(np.array([seen.quaternion])))
    bone = target.source.data.bones[target.bone] if target.bone else None
    if limb is None or bone is None:
        return Pose(tuple(where[0]), frame.quaternion)
    turn = Vector(limb.tolist()).rotation_difference(Vector(oriented[0].apply(_along(bone)).tolist()))
    return Pose(tuple(where[0]), tuple(quaternions(rotation((turn.w, turn.x, turn.y, turn.z)) * rotation(frame.quaternion))))


def limb_of(mechanism: Mechanism, name: str) -> np.ndarray | None:
    """Where the body of a frame points to (3,), in its rest pose: from the joint that it hangs from to its centre of mass."""
    body = mechanism.bodies[mechanism.body_index[mechanism.frame(name).body]]
    joint = next((j for j in mechanism.joints if j.child == body.name), None)
    if joint is None or body.mass <= 0:
        return None
    limb = np.array(body.pose.point(body.com)) - np.array(joint.position)
    length = float(np.linalg.norm(limb))
    return limb / length if length > POINT else None


def hold_direction(target: PropertyGroup, frame: Pose, limb: np.ndarray | None) -> None:
    """Lets only the frame's axis that lies nearest to the limb count, about which it may turn; weights set by axis stay."""
    if len(set(target.orientation_weight)) == 1:
        nearest = -1 if limb is None else int(np.argmax(np.abs(frame.matrix.T @ limb)))
        target.orientation_weight = [target.orientation_weight[0] * (axis == nearest) for axis in range(3)]


def _along(bone: Bone) -> np.ndarray:
    """Where a bone's limb leads to, in the bone's axes (3,): to its only child, else to its tail."""
    end = bone.children[0].head_local if len(bone.children) == 1 else bone.tail_local
    led = bone.matrix_local.to_3x3().inverted() @ (end - bone.head_local)
    return np.array(led if led.length > POINT else (0.0, 1.0, 0.0))
