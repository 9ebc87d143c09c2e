"""From the solver's state frames to the bodies' own frames, for whole clips at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import kernel
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.topology import Topology
from .kernels import forward_kinematics, read_state
from .rotations import cross, multiplied


def own_frames(topology: Topology, com: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bodies' own frames in the world, in the mechanism's order, from state frames in the topology's.

    Both are positions (T, n, 3) [m] and quaternions (T, n, 4) wxyz.
    """
    position, turned = np.array(com, dtype=float), np.array(quaternion, dtype=float)
    become_own_frames(topology, position, turned)
    return position, turned


def become_own_frames(topology: Topology, com: np.ndarray, quaternion: np.ndarray) -> None:
    """Replace state frames by the bodies' own frames in the mechanism's order, in place, as in `own_frames`."""
    bodies = topology.mechanism.bodies
    rest = np.array([bodies[i].pose.quaternion for i in topology.order]).reshape(-1, 4)
    local = np.array([bodies[i].com for i in topology.order]).reshape(-1, 3)
    reframe(com, quaternion, rest, local, np.array(topology.order, dtype=np.int64), np.zeros((len(rest), 7)))


@kernel
def reframe(com, quaternion, rest, local, order, row):
    """Replace state frames (T, n, 3), (T, n, 4) by the bodies' own frames, in place; body i goes to row order[i].

    `rest` (n, 4) are own frames' orientations in the rest pose, `local` (n, 3) centres of mass in them [m].
    """
    for k in range(com.shape[0]):
        for i in range(order.shape[0]):
            a, b, c, d = quaternion[k, i, 0], quaternion[k, i, 1], quaternion[k, i, 2], quaternion[k, i, 3]
            w, x, y, z = multiplied(a, b, c, d, rest[i, 0], rest[i, 1], rest[i, 2], rest[i, 3])
            # R l = l + 2 w (v × l) + 2 v × (v × l) for the quaternion (w, v)
            l0, l1, l2 = local[i, 0], local[i, 1], local[i, 2]
            t0, t1, t2 = cross(x, y, z, l0, l1, l2)
            u0, u1, u2 = cross(x, y, z, t0, t1, t2)
            to = row[order[i]]
            to[0] = com[k, i, 0] - l0 - 2.0 * (w * t0 + u0)
            to[1] = com[k, i, 1] - l1 - 2.0 * (w * t1 + u1)
            to[2] = com[k, i, 2] - l2 - 2.0 * (w * t2 + u2)
            to[3], to[4], to[5], to[6] = w, x, y, z
        for i in range(order.shape[0]):
            for j in range(3):
                com[k, i, j] = row[i, j]
            for j in range(4):
                quaternion[k, i, j] = row[i, 3 + j]


@kernel
def read_states(flat, now, q, before, position, quaternion):
    """Fill state frames (T, n, 3) [m] and (T, n, 4) wxyz from the coordinates (T, nq) of a run of frames.

    Of both signs, the first quaternions have those nearer to `before` (n, 4).
    """
    for k in range(q.shape[0]):
        for i in range(q.shape[1]):
            now.q[i] = q[k, i]
        forward_kinematics(flat, now)
        for b in range(flat.bodies):
            for i in range(4):
                quaternion[k, b, i] = quaternion[k - 1, b, i] if k > 0 else before[b, i]
        read_state(flat, now, position[k], quaternion[k])


def frame_poses(
    mechanism: Mechanism, name: str, position: np.ndarray, quaternion: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (T, 3) [m] and rotation matrices (T, 3, 3) of a frame, or body, in the world.

    The bodies' own frames are (T, n, 3) [m] and (T, n, 4) wxyz.
    """
    frame = mechanism.frame(name)
    i = mechanism.body_index[frame.body]
    R = quaternion_matrices(quaternion[:, i])
    return position[:, i] + R @ np.array(frame.pose.position), R @ frame.pose.matrix


def robot_com(mechanism: Mechanism, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return the robot's centre of mass (T, 3) [m] from its bodies' own frames (T, n, 3) [m] and (T, n, 4) wxyz."""
    mass = np.array([b.mass for b in mechanism.bodies])
    share = mass / max(mass.sum(), 1e-300)
    found = np.zeros((len(position), 3))
    for i, body in enumerate(mechanism.bodies):
        if share[i]:
            found += share[i] * (position[:, i] + quaternion_matrices(quaternion[:, i]) @ np.array(body.com))
    return found


def com_of_states(topology: Topology, com: np.ndarray) -> np.ndarray:
    """Return the robot's centre of mass (T, 3) [m] from its bodies' (T, n, 3) [m], in the topology's order."""
    mass = np.array([topology.mechanism.bodies[i].mass for i in topology.order])
    return np.einsum("n,tni->ti", mass / max(mass.sum(), 1e-300), com)


class Anchor(NamedTuple):
    """A frame on its body, in the body's state frame."""

    body: int  # index among the kernels' arrays
    point: np.ndarray  # (3,) [m]
    axes: np.ndarray  # (3, 3)


def anchor(topology: Topology, name: str) -> Anchor:
    """Return body number, point (3,) [m] and axes (3, 3) of a frame, or body, in the body's state frame.

    The state frame has the world's orientation at rest.
    """
    body, point, axes = _on_body(topology.mechanism, name)
    return Anchor(topology.body_at[body], point, axes)


@kept_with_robot
def _on_body(mechanism: Mechanism, name: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Return a frame's body, point and axes, as `anchor` does."""
    frame = mechanism.frame(name)
    body = mechanism.bodies[mechanism.body_index[frame.body]]
    rest = body.pose @ frame.pose
    return frame.body, np.array(rest.position) - body.rest_com, rest.matrix
