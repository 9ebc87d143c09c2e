"""What no robot can do whole: the CoM is to swing 15 mm sideways while feet and pelvis stay, with weights six decades
apart."""

from __future__ import annotations

import numpy as np

from robik.bench.clips import smoothstep
from robik.clips.clip import TargetClip, Track
from robik.mechanism import Mechanism
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights


def compromise(walker: Mechanism, pelvis: float, lift: float) -> tuple[TargetClip, Settings]:
    """Four seconds at 60 frames a second, the pelvis of this weight moved up by `lift` [m], and the paper's weights of
    feet and CoM."""
    t = np.arange(240) / 60
    rest = {name: walker.rest_pose(name) for name in ("pelvis", "foot_l", "foot_r")}
    tracks = {
        name: Track(np.tile(pose.position, (240, 1)), np.tile(pose.quaternion, (240, 1))) for name, pose in rest.items()
    }
    hips = np.array(rest["pelvis"].position) + lift * smoothstep(t)[:, None] * [0.0, 0.0, 1.0]
    tracks["pelvis"] = Track(hips, tracks["pelvis"].quaternion)
    com = sum(b.mass * b.rest_com for b in walker.bodies) / walker.mass + 0.015 * np.sin(np.pi * t)[:, None] * [
        0.0,
        1.0,
        0.0,
    ]
    feet = Weights((10.0,) * 3, (100.0,) * 3)
    weights = {"pelvis": Weights((pelvis,) * 3, (pelvis,) * 3), "foot_l": feet, "foot_r": feet}
    return TargetClip(t, tracks, com=com), Settings(
        state_weight=1e-7, targets=weights, com_weight=(10.0, 10.0, 0.0), joint_limits=False, length=1.0
    )
