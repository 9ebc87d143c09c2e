"""From the solver's state frames to the bodies' own frames, for whole clips at once."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from .rotations import product, quaternion_matrices


def own_frames(topology: Topology, com: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bodies' own frames, in the mechanism's order.

    Args:
        com: (T, n, 3) centres of mass [m], in the topology's order.
        quaternion: (T, n, 4) unit quaternions wxyz of the state frames, likewise.

    Returns:
        Positions (T, n, 3) [m] and unit quaternions (T, n, 4), world coordinates.
    """
    bodies = topology.mechanism.bodies
    rest = np.array([bodies[i].pose.quaternion for i in topology.order])
    local = np.array([bodies[i].com for i in topology.order])
    turned = np.stack(product(*np.moveaxis(quaternion, -1, 0), *rest.T), axis=-1)
    position = com - np.einsum("tnij,nj->tni", quaternion_matrices(turned), local)
    back = np.argsort(topology.order)
    return np.ascontiguousarray(position[:, back]), np.ascontiguousarray(turned[:, back])


def frame_poses(mechanism: Mechanism, name: str, position: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A named frame along a motion.

    Args:
        name: of a frame or a body.
        position, quaternion: (T, n, 3) [m] and (T, n, 4) of the bodies' own frames.

    Returns:
        Positions (T, 3) [m] and rotation matrices (T, 3, 3), world coordinates.
    """
    frame = mechanism.frame(name)
    i = mechanism.body_index[frame.body]
    R = quaternion_matrices(quaternion[:, i])
    return position[:, i] + R @ np.array(frame.pose.position), R @ frame.pose.matrix


def robot_com(mechanism: Mechanism, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """The robot's centre of mass (T, 3) [m] along a motion, from the bodies' own frames (T, n, 3) and (T, n, 4)."""
    mass = np.array([b.mass for b in mechanism.bodies])
    local = np.array([b.com for b in mechanism.bodies])
    points = position + np.einsum("tnij,nj->tni", quaternion_matrices(quaternion), local)
    return np.einsum("n,tni->ti", mass / max(mass.sum(), 1e-300), points)


def anchor(topology: Topology, name: str) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the body, point (3,) and axes (3, 3) of a frame in the body's state frame, which has the world's orientation at rest."""
    mechanism = topology.mechanism
    frame = mechanism.frame(name)
    body = mechanism.bodies[mechanism.body_index[frame.body]]
    rest = body.pose @ frame.pose
    return topology.body_at[frame.body], np.array(rest.position) - body.rest_com, rest.matrix
