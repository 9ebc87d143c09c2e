"""Poses of a robot as MuJoCo's positions (qpos), in the order of an MJCF file's bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from ...mechanism import WORLD, Mechanism
from ...mechanism.orientations import quaternions, rotation
from ..export_tree import BALL, Branch


def positions(
    mechanism: Mechanism,
    branches: Sequence[Branch],
    values: Mapping[str, np.ndarray],
    position: np.ndarray,
    quaternion: np.ndarray,
) -> np.ndarray:
    """Return a robot's poses as MuJoCo's positions (T, nq).

    `values` has (T,) by scalar coordinate [rad or m], `position` (T, n, 3) [m] and `quaternion` (T, n, 4) wxyz are
    those of the bodies' own frames, and `branches` are the bodies in the file's order.
    """
    columns: list[np.ndarray] = []
    turned = {name: rotation(quaternion[:, i]) for name, i in mechanism.body_index.items()}
    rest = {WORLD: Rotation.identity()} | {b.name: Rotation.from_matrix(b.pose.matrix) for b in mechanism.bodies}
    turned[WORLD] = Rotation.identity(len(position))
    for branch in branches:
        name = branch.body.name
        joint = branch.joint
        if joint is None or (joint.type == "free" and branch.parent == WORLD and joint.child == name):
            i = mechanism.body_index[name]
            columns += [position[:, i], quaternion[:, i]]
            continue
        for motion in branch.motions:
            if motion.kind == BALL:
                local = (rest[branch.parent].inv() * rest[name]).inv() * turned[branch.parent].inv() * turned[name]
                columns.append(quaternions(local))
            else:
                columns.append(np.asarray(values[motion.name])[:, None])
    return np.concatenate(columns, axis=1) if columns else np.zeros((len(position), 0))
