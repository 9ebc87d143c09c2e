"""Real humanoids on a recorded dance and a walk, as `robik retarget` makes them when nothing is set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.baking.humanoids import run
from robik.bake.settings import BakeSettings
from robik.formats import load_robot
from robik.recordings.recording import load_recording
from robik.recordings.retargeting import Retargeted, retarget_recording
from robik.skeleton.skeleton import SkeletonMotion
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking, with_first

FILES = {
    "g1": "unitree_g1/g1_29dof.xml",
    "h1": "unitree_h1/h1.xml",
    "simple": "example-robot-data/robots/simple_humanoid_description/urdf/simple_humanoid.urdf",
}
LARGEST_STEP = 0.2  # rad in 1/120 s
FRAME_BY_FRAME = BakeSettings(look_ahead=False)  # half a minute less for each dance
# m on average; the legs of the last one have each other's limits, its file says, so one knee does not bend
HIPS_OFF = {"g1": 0.006, "h1": 0.005, "simple": 0.065}


def largest_step(found: Retargeted) -> float:
    """Of a motor [rad in 1/120 s]."""
    speeds = np.abs(np.diff(found.motion.values, axis=0)) / np.diff(found.motion.times)[:, None]
    return float(speeds.max()) / 120.0


@pytest.mark.parametrize("name", ["g1", pytest.param("h1", marks=pytest.mark.long), "simple"])
def test_no_joint_jumps_in_a_dance(shared_data: Path, name: str) -> None:
    """The recording begins with a T-pose, which is left out, and has the same scale wherever one begins to look."""
    file, dance = shared_data / FILES[name], shared_data / "bvh" / "05_20-mb.bvh"
    found = retarget_recording(load_robot(file), dance, robot_file=file, settings=FRAME_BY_FRAME)
    assert found.following.left_out == 1
    assert largest_step(found) <= LARGEST_STEP
    whole = load_recording(dance)
    for start in (300, 900):
        part = SkeletonMotion(whole.skeleton, whole.times[start:], whole.positions[start:], whole.quaternions[start:])
        again = retarget_recording(load_robot(file), part, robot_file=file, end=float(whole.times[start + 4]))
        assert again.following.placement.scale == found.following.placement.scale


@pytest.mark.long
@pytest.mark.parametrize("name", ["g1", "h1"])
def test_looking_ahead_the_dance_keeps_limits_and_soles_stay_up(shared_data: Path, name: str) -> None:
    """A base that no bound is on must not go up and down from frame to frame: soles went 12.6 mm into the ground."""
    file, dance = shared_data / FILES[name], shared_data / "bvh" / "05_20-mb.bvh"
    found = retarget_recording(load_robot(file), dance, robot_file=file)
    report = found.motion.report
    assert report.look_ahead.beyond == "" and report.look_ahead.converged
    assert np.abs(report.acceleration).max() <= 1.0005 * 460.0  # 23 rad/s in 0.05 s
    assert report.quality.floor_penetration_mm < 1.0
    assert report.quality.contact_off_mm < 1e-3


@pytest.mark.parametrize("name", FILES)
def test_a_walk_after_a_t_pose_is_followed_on_its_feet(shared_data: Path, name: str) -> None:
    """Knees bend forwards, and a robot whose file holds it by its hips walks."""
    file, walk = shared_data / FILES[name], with_first(walking(skeleton("lafan1")[0], 60))
    found = retarget_recording(load_robot(file), walk, robot_file=file)
    assert found.following.left_out == 1
    assert largest_step(found) <= LARGEST_STEP
    assert found.motion.base is not None
    assert np.ptp(found.motion.base.position[:, 1]) > 0.5, "it walks as far as the character, by its own size"
    hips = found.motion.report.targets.index(found.following.followers[0].frame)
    assert found.motion.report.position_error[:, hips].mean() < HIPS_OFF[name]


def test_the_table_holds_humanoids_alone(shared_data: Path) -> None:
    """A gripper has chains in pairs, too."""
    recording = str(shared_data / "bvh" / "05_20-mb.bvh")
    rows = run(folder=str(shared_data / "unitree_h1"), recording=recording, balance="off")["humanoids"]
    assert [row["robot"] for row in rows] == ["h1"]
    assert rows[0]["step_rad"] <= LARGEST_STEP
    assert rows[0]["error_mean_m"] < 0.06
    assert not run(folder=str(shared_data / "robotiq_2f85"), recording=recording, balance="off")["humanoids"]


def test_a_robot_without_its_file_is_said_to_stand_on_nothing(
    shared_data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, walk = shared_data / FILES["h1"], walking(skeleton("lafan1")[0], 4)
    retarget_recording(load_robot(file), walk)
    (said,) = [record.getMessage() for record in caplog.records if "robot_file" in record.getMessage()]
    assert said.startswith("robot 'h1' came without its file, so no feet are looked for")
    caplog.clear()
    retarget_recording(load_robot(file), walk, robot_file=file)
    assert not [record for record in caplog.records if "robot_file" in record.getMessage()]
