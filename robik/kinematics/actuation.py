"""States → actuator values: read off the poses of a joint's two bodies, without jumps of 2π (paper, IV-C)."""

from __future__ import annotations

from math import tau

import numpy as np

from ..mechanism.constraints import joint_matrices
from ..mechanism.joints import SLIDES, TURNS
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.parts import Joint
from ..mechanism.topology import Topology
from .ball_coordinates import follow
from .blocks import blocks


def actuator_values(
    topology: Topology, q: np.ndarray, com: np.ndarray, quaternion: np.ndarray, last: np.ndarray | None = None
) -> np.ndarray:
    """Return the values (T, A) [rad or m] of `Mechanism.actuators` along a motion.

    Scalar motions in the tree are read from coordinates q (T, nq), cuts and balls from state frames in the
    topology's order: `com` (T, n, 3) [m] and `quaternion` (T, n, 4) wxyz. The first values follow `last` (A,),
    those of the rest pose if left out, without a jump.
    """
    columns, at = [], 0
    for joint in topology.mechanism.actuated:
        before = None if last is None else last[at : at + len(joint.motions)]
        columns.append(joint_values(topology, joint, q, com, quaternion, before))
        at += len(joint.motions)
    return np.concatenate(columns, axis=1) if columns else np.zeros((len(q), 0))


def joint_values(
    topology: Topology,
    joint: Joint,
    q: np.ndarray,
    com: np.ndarray,
    quaternion: np.ndarray,
    last: np.ndarray | None = None,
) -> np.ndarray:
    """Return the values (T, motions) [rad or m] of one joint along a motion; arguments as for `actuator_values`.

    The first ones follow `last` (motions,), those of the rest pose if left out, without a jump.
    """
    found = [topology.dofs.get(name) for name in joint.coordinate_names]
    if found and all(found):
        return np.stack([sign * q[:, topology.flat.dof_q[dof]] for dof, sign in found], axis=1)  # type: ignore[misc]
    values = np.zeros((len(q), len(joint.motions)))
    for block in blocks(len(q)):
        values[block] = values_between(joint, *_relative(topology, joint, com[block], quaternion[block]), last)
        last = values[block.stop - 1]
    return values


def values_between(
    joint: Joint, offset: np.ndarray, orientation: np.ndarray, last: np.ndarray | None = None
) -> np.ndarray:
    """Return values (T, motions) [rad or m] of a joint from its child side's pose seen from its parent side.

    The pose is `offset` (T, 3) [m] and `orientation` (T, 3, 3). The first values follow `last` (motions,), those of
    the rest pose if left out, without a jump.
    """
    slides = [offset[:, k : k + 1] for k, name in enumerate(SLIDES) if name in joint.motions]
    start = np.array(joint.rest if last is None else last)
    return np.concatenate([*slides, _turns(joint, orientation, start[[m in TURNS for m in joint.motions]])], axis=1)


def speeds(mechanism: Mechanism, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the speeds (T - 1, A) [rad/s or m/s] with which actuators go into the samples of a motion.

    A ball's is its angular velocity about the axes of its child side.
    """
    steps, at = np.diff(values, axis=0), 0
    for joint in mechanism.actuated:
        end = at + len(joint.motions)
        if joint.is_ball:
            from scipy.spatial.transform import Rotation  # takes long to import

            turns = Rotation.from_rotvec(values[:, end - 3 : end])
            steps[:, end - 3 : end] = (turns[:-1].inv() * turns[1:]).as_rotvec()
        at = end
    return steps / np.diff(times)[:, None]


def _relative(
    topology: Topology, joint: Joint, com: np.ndarray, quaternion: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Offset (T, 3) and rotation (T, 3, 3) of the joint's child side, seen from its parent side."""
    parent_R, parent_p, child_R = joint_matrices(joint)

    def side(body: str, local_R: np.ndarray, anchor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        b = topology.body_at[body]
        if b == 0:
            return np.broadcast_to(anchor, (len(com), 3)), np.broadcast_to(local_R, (len(com), 3, 3))
        R = quaternion_matrices(quaternion[:, b - 1])
        return com[:, b - 1] + R @ (anchor - topology.rest_com[b]), R @ local_R

    near, near_R = side(joint.parent, parent_R, parent_p)
    far, far_R = side(joint.child, child_R, np.array(joint.position))
    back = np.swapaxes(near_R, 1, 2)
    return np.einsum("tij,tj->ti", back, far - near), back @ far_R


def _turns(joint: Joint, R: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the angles (T, turns) of relative rotations R (T, 3, 3).

    Of one hinge, of two in a row, or a ball's rotation vector; the first ones are those nearest to `last` (turns,).
    """
    axes = [k for k, name in enumerate(TURNS) if name in joint.motions]
    rest = np.array([v for v, m in zip(joint.rest, joint.motions, strict=True) if m in TURNS])
    if len(axes) == 3:
        return _rotation_vectors(R, last)
    if not axes:
        return np.zeros((len(R), 0))
    first = axes[0]
    i, j = (first + 1) % 3, (first + 2) % 3
    if len(axes) == 1:
        angles = np.arctan2(R[:, j, i] - R[:, i, j], R[:, i, i] + R[:, j, j])[:, None]
    else:
        second = axes[1]  # its axis does not turn with itself: it shows how far the first hinge turned
        angle = np.arctan2(R[:, j, second], R[:, i, second]) - (0.0 if second == i else 0.5 * np.pi)
        m, n = (second + 1) % 3, (second + 2) % 3
        # the first axis does not turn with the first hinge: seen from the child it shows the second one
        other = (
            np.arctan2(-R[:, first, n], R[:, first, m]) if first == m else np.arctan2(R[:, first, m], R[:, first, n])
        )
        angles = np.stack([angle, other], axis=1)
    return rest + np.unwrap(np.vstack([last - rest, angles - rest]), axis=0)[1:]


def _rotation_vectors(R: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return rotation vectors (T, 3) of rotations R (T, 3, 3), each nearest to the one before, the first to `last`."""
    from scipy.spatial.transform import Rotation  # takes long to import

    rotations = Rotation.from_matrix(R)
    found = rotations.as_rotvec()
    if max(float(np.square(found).sum(axis=1).max(initial=0.0)), float(last @ last)) >= (0.25 * tau) ** 2:
        follow(found, rotations.as_quat(), last)  # else no other vector of these rotations is nearer
    return found
