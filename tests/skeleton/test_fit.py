"""Fit of a character to a real robot: scale by bones, arms by their own proportions, a T-pose that is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.bake.solver_settings import along_limbs
from robik.clips.clip import TargetClip
from robik.formats import import_robot
from robik.mechanism import Frame, Mechanism, Pose
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from robik.skeleton.anatomy import Anatomy, read_anatomy
from robik.skeleton.fit import Fitted, fit
from robik.skeleton.mapping import Row, auto_map
from robik.skeleton.overlay import FitTarget
from robik.skeleton.placement import Placement
from robik.skeleton.skeleton import Skeleton, SkeletonMotion
from robik.skeleton.tracks import followed, track
from tests.skeleton.conventions import skeleton

SOLE = ((-0.05, -0.03, -0.03), (0.12, -0.03, -0.03), (0.12, 0.03, -0.03), (-0.05, 0.03, -0.03))
AS_IT_COMES = Placement(scale=1.0, stride=1.0, yaw=0.0, location=np.zeros(3), root=Pose())


@pytest.fixture(scope="module")
def g1(shared_data: Path) -> Mechanism:
    """With soles under its ankles."""
    mechanism = import_robot(shared_data / "unitree_g1/g1_29dof.xml").mechanism
    feet = tuple(Frame(f"foot_{side[0]}", f"{side}_ankle_roll_link", Pose(), SOLE) for side in ("left", "right"))
    return replace(mechanism, frames=(*mechanism.frames, *feet))


def turned(bones: Skeleton, turns: list[dict[str, Rotation]], ways: np.ndarray) -> SkeletonMotion:
    """A motion by rotations of bones in the world, on top of their parents', and ways of the root (T, 3)."""
    count = len(bones.names)
    positions, oriented = np.empty((len(turns), count, 3)), np.empty((len(turns), count, 4))
    for t, pose in enumerate(turns):
        rotations: list[Rotation] = []
        for k, name in enumerate(bones.names):
            parent = int(bones.parents[k])
            above = rotations[parent] if parent >= 0 else Rotation.identity()
            rotations.append(above * pose.get(name, Rotation.identity()))
            start = positions[t, parent] if parent >= 0 else ways[t]
            base = bones.positions[parent] if parent >= 0 else np.zeros(3)
            positions[t, k] = start + above.apply(bones.positions[k] - base)
        quaternions = np.array([rotation.as_quat()[[3, 0, 1, 2]] for rotation in rotations])
        oriented[t] = quaternions
    return SkeletonMotion(bones, np.arange(len(turns)) / 30.0, positions, oriented)


def walking(bones: Skeleton, samples: int = 40) -> SkeletonMotion:
    """A walk along −Y with hanging arms that swing, elbows and knees bent."""
    turns = []
    for t in range(samples):
        phase = 2 * np.pi * t / 30
        pose = {}
        for side, sign in (("Left", 1), ("Right", -1)):
            swing = np.sin(phase + (sign < 0) * np.pi)
            pose |= {
                f"{side}UpLeg": Rotation.from_euler("x", -0.1 - 0.35 * swing),
                f"{side}Leg": Rotation.from_euler("x", 0.35 + 0.2 * swing),
                f"{side}Foot": Rotation.from_euler("x", -0.25 + 0.15 * swing),
                f"{side}Arm": Rotation.from_euler("yx", [sign * 1.3, 0.3 * swing]),
                f"{side}ForeArm": Rotation.from_euler("z", -sign * 0.6),
            }  # fmt: skip
        turns.append(pose)
    return turned(bones, turns, np.column_stack([np.zeros(samples), -np.arange(samples) / 40, np.full(samples, -0.04)]))


def with_first(motion: SkeletonMotion) -> SkeletonMotion:
    """The motion after one sample of the rest pose."""
    bones = motion.skeleton
    return SkeletonMotion(
        bones,
        np.arange(len(motion.times) + 1) / 30.0,
        np.concatenate([bones.positions[None], motion.positions]),
        np.concatenate([bones.quaternions[None], motion.quaternions]),
    )


def fitted(mechanism: Mechanism, motion: SkeletonMotion) -> tuple[Fitted, list[Row], Anatomy]:
    bones = motion.skeleton
    anatomy = read_anatomy(bones, motion.positions)
    rows = [row for row in auto_map(mechanism, bones.names, anatomy) if row.bone]
    asked = [FitTarget(frame=row.frame, bone=row.bone, by_direction=row.is_direction) for row in rows]
    return fit(mechanism, Pose(), bones, motion, anatomy, asked, AS_IT_COMES), rows, anatomy


def solved(mechanism: Mechanism, motion: SkeletonMotion, found: Fitted, rows: list[Row]) -> dict[str, np.ndarray]:
    """Distances of frames from their targets (T,) after solving [m]."""
    tracks = {
        row.frame: track(*followed(motion, row.bone, target.reach), target.offset, found.placement)
        for row, target in zip(rows, found.targets, strict=True)
    }
    weights = {}
    for row, target in zip(rows, found.targets, strict=True):
        by_axis = np.array(row.orientation_weight)
        if not target.is_alike and len(set(row.orientation_weight)) == 1:
            by_axis = by_axis * (np.arange(3) == target.axis)
        weights[row.frame] = Weights(tuple(row.weight * np.array(row.position_weight)), tuple(row.weight * by_axis))
    settings = Settings(targets=along_limbs(mechanism, weights))
    motion_of = retarget(mechanism, TargetClip(motion.times, tracks), settings)
    return dict(zip(tracks, np.asarray(motion_of.report.position_error).T, strict=True))


def test_scale_is_that_of_the_legs_and_no_pose_changes_it(g1: Mechanism) -> None:
    bones, _ = skeleton("lafan1")
    motion = walking(bones)
    leg = [bones.positions[bones.index[name]] for name in ("LeftUpLeg", "LeftLeg", "LeftFoot")]
    length = float(np.linalg.norm(np.diff(leg, axis=0), axis=1).sum())
    joints = {joint.name: np.array(joint.position) for joint in g1.joints}
    knee, ankle = joints["left_knee_joint"], joints["left_ankle_pitch_joint"]
    shin = float(np.linalg.norm(ankle - knee))
    scales = []
    for start in (0, 7, 15, 22):
        part = SkeletonMotion(bones, motion.times[start:], motion.positions[start:], motion.quaternions[start:])
        scales.append(fitted(g1, part)[0].placement.scale)
    assert np.ptp(scales) == 0.0
    assert scales[0] == pytest.approx((0.324 + shin) / length, rel=0.02), "0.324 m from its hips' axes to the knee"


def test_a_walk_meets_its_targets(g1: Mechanism) -> None:
    bones, _ = skeleton("lafan1")
    motion = walking(bones)
    found, rows, _ = fitted(g1, motion)
    missed = solved(g1, motion, found, rows)
    for frame in ("pelvis", "foot_l", "foot_r"):
        assert missed[frame].max() < 8e-3, frame
    for frame in ("left_wrist_yaw_link", "right_wrist_yaw_link"):
        assert missed[frame].max() < 7e-3, "arms of other proportions reach what they are asked for"


@pytest.mark.parametrize("longer", [0.7, 1.4])
def test_arms_of_other_proportions_stay_within_their_reach(g1: Mechanism, longer: float) -> None:
    bones, _ = skeleton("lafan1")
    as_made = walking(bones)
    followed, asked, _ = fitted(g1, as_made)
    places = bones.positions.copy()
    for side in ("Left", "Right"):
        shoulder = places[bones.index[f"{side}Arm"]].copy()
        for part in ("ForeArm", "Hand"):
            k = bones.index[f"{side}{part}"]
            places[k] = shoulder + longer * (places[k] - shoulder)
    changed = Skeleton(bones.names, bones.parents, places, bones.quaternions, places)
    motion = walking(changed)
    found, rows, _ = fitted(g1, motion)
    target = next(target for row, target in zip(rows, found.targets, strict=True) if row.frame == "left_wrist_yaw_link")
    assert target.reach is not None
    assert target.reach.shares[0] == pytest.approx(found_shares(g1) / longer, rel=0.02)
    pelvis, alone = solved(g1, motion, found, rows)["pelvis"], solved(g1, as_made, followed, asked)["pelvis"]
    assert pelvis.max() < 7e-3
    assert pelvis == pytest.approx(alone, abs=1e-3), "arms do not drag the pelvis"


def found_shares(mechanism: Mechanism) -> float:
    bones, _ = skeleton("lafan1")
    found, rows, _ = fitted(mechanism, walking(bones))
    reach = next(
        target.reach for row, target in zip(rows, found.targets, strict=True) if row.frame == "left_wrist_yaw_link"
    )
    assert reach is not None
    return reach.shares[0]


def test_a_t_pose_at_the_start_is_noticed(g1: Mechanism) -> None:
    bones, _ = skeleton("lafan1")
    motion = walking(bones)
    assert fitted(g1, motion)[0].left_out == 0
    assert fitted(g1, with_first(motion))[0].left_out == 1
    still = SkeletonMotion(
        bones, motion.times, np.tile(bones.positions, (40, 1, 1)), np.tile(bones.quaternions, (40, 1, 1))
    )
    assert fitted(g1, still)[0].left_out == 0, "one that stays in it is not left out"


def test_a_pose_to_align_by_with_a_tilted_pelvis_is_seen_through(g1: Mechanism) -> None:
    """As in CMU's recordings: the hips' bone is 0.4 rad off in the T-pose, while the body is not."""
    bones, _ = skeleton("lafan1")
    motion = walking(bones)
    tilt = Rotation.from_euler("x", 0.4)
    quaternions = motion.quaternions.copy()
    hips = bones.index["Hips"]
    quaternions[:, hips] = (Rotation.from_quat(quaternions[:, hips][:, [1, 2, 3, 0]]) * tilt).as_quat()[:, [3, 0, 1, 2]]
    tilted = with_first(SkeletonMotion(bones, motion.times, motion.positions, quaternions))
    found, rows, _ = fitted(g1, tilted)
    target = found.targets[[row.frame for row in rows].index("pelvis")]
    pelvis = track(*followed(tilted, "Hips", target.reach), target.offset, found.placement)
    assert pelvis.quaternion is not None
    up = Rotation.from_quat(pelvis.quaternion[1:, [1, 2, 3, 0]]).apply([0.0, 0.0, 1.0])
    assert up[:, 2].min() > 0.99, "the robot's pelvis stands upright"
