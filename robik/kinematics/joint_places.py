"""Places and values of a robot's joints, from the poses of its bodies alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mechanism.constraints import joint_matrices
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.parts import WORLD, Joint
from .actuation import values_between


@dataclass(frozen=True)
class JointPlace:
    """A joint as it stands.

    Attributes:
        joint: which.
        origin: (3,) of the joint's frame on the parent's side, as if all its values were zero; world coordinates [m].
        axes: (3, 3) that frame's axes as columns.
        values: (motions,) [rad or m].
    """

    joint: Joint
    origin: np.ndarray
    axes: np.ndarray
    values: np.ndarray


def joint_places(mechanism: Mechanism, position: np.ndarray, quaternion: np.ndarray) -> list[JointPlace]:
    """Return the place of each joint, in the mechanism's order, at bodies' own frames (n, 3) [m], (n, 4) wxyz."""
    turns = quaternion_matrices(quaternion)

    def carried(body: str, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the body carries from its place in the rest pose to the one now."""
        if body == WORLD:
            return R, p
        i = mechanism.body_index[body]
        rest = mechanism.bodies[i].pose
        turn = turns[i] @ rest.matrix.T
        return turn @ R, position[i] + turn @ (p - np.array(rest.position))

    places = []
    for joint in mechanism.joints:
        parent_R, parent_p, child_R = joint_matrices(joint)
        near_R, near = carried(joint.parent, parent_R, parent_p)
        far_R, far = carried(joint.child, child_R, np.array(joint.position))
        values = values_between(joint, (near_R.T @ (far - near))[None], (near_R.T @ far_R)[None])[0]
        places.append(JointPlace(joint, near, near_R, values))
    return places
