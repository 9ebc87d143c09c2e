"""The demo's character and what the walker makes of its walk; the recording likewise."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.errors import RobikError

from demo import performance, stage
from tools.installed import add_on

CLEAR = 0.03  # of the ankle above where it stands [m]: then the foot is in the air


@pytest.fixture(scope="module")
def walk() -> dict:
    """The walk's frames: per bone its matrices in the world, (T, 4, 4)."""
    stage.empty_scene()
    rig = stage.bring_character()
    scene, names = bpy.context.scene, ("foot.L", "foot.R", "foot_control.L", "hips", "head")
    found: dict = {name: [] for name in names}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for name in names:
            found[name].append(np.array(rig.matrix_world @ rig.pose.bones[name].matrix))
    return {name: np.array(matrices) for name, matrices in found.items()}


def test_the_feet_stand_still_between_steps(walk: dict) -> None:
    motion = add_on("scene.character.walking.walk")
    gait = motion.Gait()
    times = np.arange(len(walk["hips"])) / stage.FRAME_RATE
    for side, foot in motion.feet(gait, times).items():
        ankle = walk[f"foot.{side}"][:, :3, 3]
        both = foot.stands[1:] & foot.stands[:-1]
        assert np.linalg.norm(np.diff(ankle, axis=0), axis=1)[both].max() < 2e-4
        assert np.ptp(ankle[foot.stands, 2]) < 2e-4
        assert ankle[:, 2].max() - ankle[foot.stands, 2].mean() > CLEAR


def test_the_leg_reaches_its_foot(walk: dict) -> None:
    assert np.abs(walk["foot.L"] - walk["foot_control.L"]).max() < 2e-4


def test_the_walk_goes_forward_and_keeps_its_head_level(walk: dict) -> None:
    gait = add_on("scene.character.walking.walk").Gait()
    way = walk["hips"][-1, :3, 3] - walk["hips"][0, :3, 3]
    assert -way[1] == pytest.approx(gait.stride * (gait.steps - 1), abs=0.02)
    assert abs(way[0]) < 0.01
    assert np.ptp(walk["head"][:, 2, 3]) < 0.08
    assert np.diff(-walk["hips"][:, 1, 3]).min() > -2e-3


@pytest.mark.one_blender
def test_the_walker_walks_balanced_and_naively_would_fall() -> None:
    stage.empty_scene()
    root, _ = performance.prepare(None)
    mechanism = add_on("scene.robot.reading").read_robot(root)
    balanced = performance.bake(root, balanced=True)
    contacts = performance.contacts_of(balanced.clip)
    good = performance.summary(mechanism, balanced.motion, contacts)
    naive = performance.summary(mechanism, performance.bake(root, balanced=False).motion, contacts)
    assert naive["com_margin_min_m"] < -0.01
    assert naive["frames_outside_support"] > 50
    assert good["com_margin_min_m"] > 0.009
    assert good["zero_moment_margin_min_m"] > 0.009
    assert naive["frames_tipping"] > 50
    assert good["frames_tipping"] == 0
    assert good["frames_standing"] == good["frames"]
    assert good["position_error_max_m"] < 1e-3
    assert good["constraint_residual_max"] < 1e-9
    limits = {joint.name: joint.velocity_limit for joint in mechanism.actuated}
    assert all(speed < limits[name] for name, speed in good["peak_velocity"].items())


@pytest.mark.one_blender
@pytest.mark.parametrize(
    ("first", "frames", "tipping", "outside"),
    [
        pytest.param(700, 240, 0.09, 0.2, id="steps and leaps"),
        pytest.param(2, 1095, 0.17, 0.1, id="whole", marks=pytest.mark.long),
    ],
)
def test_the_dance_stays_assembled_in_every_frame(
    shared_data: Path, first: int, frames: int, tipping: float, outside: float
) -> None:
    """What tips and leaves its support are shares of the frames in which it stands."""
    scene = stage.empty_scene()
    root, _ = performance.prepare(shared_data / "bvh" / "05_20-mb.bvh")
    assert scene.frame_end == 1096
    scene.frame_start, scene.frame_end = first, first + frames - 1
    root.robik.robot.bake.look_ahead = False  # which takes four times as long
    mechanism = add_on("scene.robot.reading").read_robot(root)
    baked = performance.bake(root, balanced=True)
    report = performance.summary(mechanism, baked.motion, performance.contacts_of(baked.clip))
    assert report["frames"] == frames
    assert report["constraint_residual_max"] < 1e-9
    assert report["frames_tipping"] < tipping * report["frames_standing"]
    assert report["frames_outside_support"] < outside * report["frames_standing"]  # a plan with momentum may leave it
    assert report["com_error_max_m"] < 0.1
    feet_follow = [k for k, name in enumerate(baked.motion.report.targets) if name.startswith("foot")]
    assert np.nanmean(baked.motion.report.position_error[:, feet_follow]) < 0.01


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    stage.empty_scene()
    file = tmp_path / "walk.bvh"
    file.write_text("not a recording\n")
    with pytest.raises(RobikError, match="cannot be read as a BVH"):
        stage.bring_recording(file)
