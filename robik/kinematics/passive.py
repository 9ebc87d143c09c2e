"""States → coordinates of joints without a motor, read off as the actuators' are (paper, IV-C)."""

from __future__ import annotations

import numpy as np

from ..mechanism.topology import Topology
from .actuation import joint_values


def passive_values(topology: Topology, q: np.ndarray, com: np.ndarray, quaternion: np.ndarray) -> dict[str, np.ndarray]:
    """Return the coordinates of a robot's joints that have no motor, without a floating base's.

    Args:
        topology: the robot's tree.
        q: (T, nq) coordinates of the tree.
        com: (T, n, 3) centres of mass [m], in the topology's order.
        quaternion: (T, n, 4) unit quaternions wxyz of the state frames, likewise.

    Returns:
        (T,) [rad or m] by coordinate name, in the order of the joints; without jumps of 2π.
    """
    base = topology.base.name if topology.base else None
    passive = [
        joint for joint in topology.mechanism.joints if joint.motions and not joint.actuated and joint.name != base
    ]
    found: dict[str, np.ndarray] = {}
    for joint in passive:
        found |= dict(zip(joint.coordinate_names, joint_values(topology, joint, q, com, quaternion).T, strict=True))
    return found
