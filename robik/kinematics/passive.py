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
    """Return the coordinates (T,) [rad or m] by name of joints that have no motor, without a floating base's.

    They have no jumps of 2π and follow `last`, values by name, those of the rest pose if left out. Coordinates q
    (T, nq) and state frames (T, n, 3) [m], (T, n, 4) wxyz are as for `actuator_values`.
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
