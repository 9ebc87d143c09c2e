"""A direction in a frame that lies along none of its axes, held alone: in a bake, live, and in a file of settings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.objectives.settings import Settings, settings_from
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from robik.tracking import StateBasedTracker, Target, Targets

WAY = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
WEIGHTS = Weights((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), tuple(WAY))
SAMPLES = 12


def swinging() -> tuple[Rotation, np.ndarray]:
    """Orientations of an arm's forearm that swing by 0.5 rad and spin about the way, and quaternions."""
    swings = Rotation.from_rotvec(np.linspace(0.0, 0.5, SAMPLES)[:, None] * [0.6, 0.8, 0.0])
    spins = Rotation.from_rotvec(np.linspace(0.0, 2.0 * np.pi, SAMPLES)[:, None] * WAY)
    rest = Rotation.from_matrix(robots.load("arm7").rest_pose("forearm").matrix)
    asked = swings * rest * spins
    return asked, asked.as_quat()[:, [3, 0, 1, 2]]


def test_the_way_is_met_whatever_the_spin_is_and_no_axis_is_held() -> None:
    arm, (asked, quaternions) = robots.load("arm7"), swinging()
    settings = Settings(targets={"forearm": WEIGHTS}, state_weight=1e-6)
    motion = retarget(arm, TargetClip(np.arange(SAMPLES) / 30, {"forearm": Track(None, quaternions)}), settings)
    assert motion.report is not None
    assert motion.report.orientation_error.max() < 1e-3, "the error is that of the way"
    assert motion.quaternion is not None
    found = Rotation.from_quat(motion.quaternion[:, arm.body_index["forearm"]][:, [1, 2, 3, 0]])
    assert np.linalg.norm(found.apply(WAY) - asked.apply(WAY), axis=1).max() < 1e-3
    z = np.array([0.0, 0.0, 1.0])
    assert np.linalg.norm(found.apply(z) - asked.apply(z), axis=1).max() > 0.5, "no axis of the frame is asked for"


def test_a_tracker_goes_where_a_bake_goes() -> None:
    arm, (_, quaternions) = robots.load("arm7"), swinging()
    settings = Settings(targets={"forearm": WEIGHTS}, state_weight=1e-3)
    baked = retarget(arm, TargetClip(np.arange(SAMPLES) / 30, {"forearm": Track(None, quaternions)}), settings)
    tracker = StateBasedTracker(arm, Settings(state_weight=1e-3))
    for k in range(4):
        values = tracker.step(Targets({"forearm": Target(None, quaternions[k], WEIGHTS)}), 1 / 30)
        np.testing.assert_allclose(values, baked.values[k], atol=1e-6)


def test_a_file_of_settings_names_the_way() -> None:
    entry = {"position_weight": [0, 0, 0], "orientation_weight": [0, 0, 2], "along": [0, 3, 4]}
    weights = settings_from({"targets": {"thigh": entry}}).weights("thigh")
    assert weights.along == pytest.approx((0.0, 0.6, 0.8))
    assert weights.directions == (2.0, 0.0, 0.0)
    assert weights.axes[:, 0] == pytest.approx(weights.along)
    assert np.linalg.det(weights.axes) == pytest.approx(1.0)
    with pytest.raises(ClipError, match="must not be zero"):
        Weights(along=(0.0, 0.0, 0.0))
