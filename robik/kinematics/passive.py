"""States → coordinates of joints without a motor, read off as the actuators' are (paper, IV-C)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..mechanism.topology import Topology
from .actuation import joint_values


def passive_values(
    topology: Topology,
    q: np.ndarray,
    com: np.ndarray,
    quaternion: np.ndarray,
    last: Mapping[str, float] | None = None,
) -> dict[str, np.ndarray]:
    """Return the coordinates of a robot's joints that have no motor, without a floating base's.

    Args:
        topology: the robot's tree.
        q: (T, nq) coordinates of the tree.
        com: (T, n, 3) centres of mass [m], in the topology's order.
        quaternion: (T, n, 4) unit quaternions wxyz of the state frames, likewise.
        last: values by coordinate name that the first ones follow without a jump; those of the rest pose if left out.

    Returns:
        (T,) [rad or m] by coordinate name, in the order of the joints; without jumps of 2π.
    """
    base = topology.base.name if topology.base else None
    passive = [
        joint for joint in topology.mechanism.joints if joint.motions and not joint.actuated and joint.name != base
    ]
    found: dict[str, np.ndarray] = {}
    for joint in passive:
        names = joint.coordinate_names
        before = None if last is None else np.array([last[name] for name in names])
        found |= dict(zip(names, joint_values(topology, joint, q, com, quaternion, before).T, strict=True))
    return found
