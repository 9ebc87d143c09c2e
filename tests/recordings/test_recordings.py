"""Recordings read without Blender: BVH as many programs write it, positions of joints, poses of a body model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.errors import ClipError
from robik.mechanism.orientations import rotation
from robik.recordings import load_recording, save_recording
from robik.recordings.body_model import NAMES
from robik.skeleton.anatomy import read_anatomy
from robik.skeleton.skeleton import Skeleton, SkeletonMotion
from tests.recordings.bvh_text import bvh_text
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import turned, walking

# How programs write BVH: convention of names, and what `bvh_text` takes.
WRITTEN = {
    "lafan1": {"order": "ZYX", "unit": 100.0},
    "soma": {"order": "XYZ", "unit": 100.0, "positions": True},
    "xsens bvh": {"order": "YXZ", "unit": 100.0, "newline": "\r\n"},
    "xsens mvn": {"order": "ZXY", "unit": 39.37},
    "rokoko": {"order": "ZXY", "unit": 100.0, "positions": True},
    "mixamo": {"order": "XYZ", "unit": 1.0},
    "smpl": {"order": "ZYX", "unit": 1.0, "y_up": False},
    "unity": {"order": "ZXY", "unit": 1000.0, "rotation_first": True},
}


def bending(name: str) -> SkeletonMotion:
    """A motion in which every bone of a convention turns about all axes."""
    bones, _ = skeleton(name)
    turns = [
        {
            bone: Rotation.from_euler("xyz", 0.2 * np.sin(0.4 * t + np.array([0.0, 1.0, 2.0]) + k))
            for k, bone in enumerate(bones.names)
        }
        for t in range(12)
    ]
    return turned(bones, turns, np.column_stack([np.linspace(0, 1, 12), np.linspace(0, -2, 12), np.full(12, 0.1)]))


def in_order(motion: SkeletonMotion, names: tuple[str, ...]) -> SkeletonMotion:
    """The motion with its bones in another order."""
    old = motion.skeleton
    order = [old.index[name] for name in names]
    parents = [order.index(int(old.parents[k])) if old.parents[k] >= 0 else -1 for k in order]
    bones = Skeleton(names, np.array(parents), old.positions[order], old.quaternions[order], old.tips[order])
    return SkeletonMotion(bones, motion.times, motion.positions[:, order], motion.quaternions[:, order])


def angle(one: np.ndarray, other: np.ndarray) -> float:
    return float((rotation(one.reshape(-1, 4)).inv() * rotation(other.reshape(-1, 4))).magnitude().max())


@pytest.mark.parametrize("name", WRITTEN)
def test_a_bvh_file_gives_the_motion_that_was_written(tmp_path: Path, name: str) -> None:
    motion = bending(name)
    (tmp_path / "m.bvh").write_text(bvh_text(motion, **WRITTEN[name]), newline="")
    read = load_recording(tmp_path / "m.bvh")
    assert sorted(read.skeleton.names) == sorted(motion.skeleton.names)
    motion = in_order(motion, read.skeleton.names)
    assert read.skeleton.parents.tolist() == motion.skeleton.parents.tolist()
    scale = float(np.ptp(read.positions) / np.ptp(motion.positions))
    np.testing.assert_allclose(read.positions, scale * motion.positions, atol=1e-7)
    np.testing.assert_allclose(read.skeleton.tips, scale * motion.skeleton.tips, atol=1e-7)
    assert angle(read.quaternions, motion.quaternions) < 1e-6
    np.testing.assert_allclose(read.times, motion.times, atol=1e-8)
    tall = np.median(np.ptp(read.positions[:, :, 2], axis=1))
    assert 1.0 < tall < 2.5, "about as tall as a human, whatever the file's unit"


def test_axis_that_is_up_can_be_said(tmp_path: Path) -> None:
    motion = bending("lafan1")
    (tmp_path / "m.bvh").write_text(bvh_text(motion, unit=1.0))
    seen, said = load_recording(tmp_path / "m.bvh"), load_recording(tmp_path / "m.bvh", up="y")
    assert np.array_equal(seen.positions, said.positions)
    lying = load_recording(tmp_path / "m.bvh", up="x")
    assert np.median(np.ptp(lying.positions[:, :, 2], axis=1)) != pytest.approx(
        np.median(np.ptp(seen.positions[:, :, 2], axis=1)), rel=0.05
    )
    with pytest.raises(ClipError, match="the axis that points up is x, y, z or auto, not 'w'"):
        load_recording(tmp_path / "m.bvh", up="w")


GOOD = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Left Leg
  {
    OFFSET 0 -50 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -40 0
    }
  }
  JOINT Left Leg
  {
    OFFSET 0 30 0
    CHANNELS 1 Yrotation
  }
}
MOTION
Frames: 2
Frame Time: 0.04
0 90 0 0 0 0 0 0 0 0
0 91 0 0 0 0 0 0 0 0
"""
WRONG = {
    "cut": (GOOD[: GOOD.index("JOINT")], "there is no MOTION after the hierarchy; the file is cut off"),
    "no frames": (GOOD[: GOOD.index("0 90")], "it holds no frame of motion"),
    "no time": (GOOD.replace("Frame Time: 0.04\n", ""), "no line 'Frame Time:'"),
    "microseconds": (GOOD.replace("0.04", "1e-300"), "its frames are 1e-300 s apart; it must be 1e-05 s or more"),
    "light years": (GOOD.replace("0 91 0", "1e30 91 0"), "m away in frame 1; it must be 1e+06 m or less"),
    "zero time": (GOOD.replace("0.04", "0"), "line 23: the frame time must be positive, not 0 s"),
    "short row": (GOOD.replace("0 91 0", "0 91"), "line 25: 9 values where the joints have 10 channels"),
    "word": (GOOD.replace("0 91 0", "0 x 0"), "line 25: 'x' is not a number"),
    "comma": (GOOD.replace("0 91 0", "0 91,5 0"), "line 25: '91,5' is not a number"),
    "nan": (GOOD.replace("0 91 0", "0 nan 0"), "line 25: a value is not a finite number"),
    "channel": (GOOD.replace("Xposition", "Wposition"), "line 5: 'wposition' is no channel"),
    "count": (GOOD.replace("CHANNELS 6", "CHANNELS 5"), "line 5: CHANNELS needs their number and as many names"),
    "offset": (GOOD.replace("OFFSET 0 -50 0", "OFFSET 0 -50"), "line 8: 3 numbers are needed here, not 2"),
    "brackets": (GOOD.replace("MOTION", "}\nMOTION"), "line 21: a bracket is closed that was not opened"),
    "open": (GOOD.replace("}\nMOTION", "MOTION"), "the motion begins before the hierarchy of joints is complete"),
    "strange": (GOOD.replace("OFFSET 0 30", "SCALE 0 30"), "line 17: 'SCALE' is no word of a BVH hierarchy"),
    "flat": (GOOD.replace(" -50 ", " 0 ").replace(" 30 ", " 0 "), "its skeleton has no size"),
    "other": ("<xml/>", "no recording that can be read here; there are BVH and npz"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_get_one_sentence(tmp_path: Path, case: str) -> None:
    content, words = WRONG[case]
    (tmp_path / "m.bvh").write_text(content)
    with pytest.raises(ClipError) as caught:
        load_recording(tmp_path / "m.bvh")
    assert str(caught.value).startswith(f"{tmp_path / 'm.bvh'}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_with_spaces_and_names_that_are_there_twice(tmp_path: Path) -> None:
    (tmp_path / "m.bvh").write_text("\ufeff" + GOOD.replace("\n", "\r"), newline="")
    read = load_recording(tmp_path / "m.bvh")
    assert read.skeleton.names == ("Hips", "Left_Leg", "Left_Leg.001"), "as Blender's importer names them"
    (tmp_path / "m.fbx").write_bytes(b"Kaydara")
    with pytest.raises(ClipError, match=r"m\.fbx: this format is read by Blender: import it there"):
        load_recording(tmp_path / "m.fbx")


def test_recordings_of_others(shared_data: Path) -> None:
    """Files that nobody here wrote: orders of rotation, chains of fingers, a root that turns before it moves."""
    for file, bones in (("05_20-mb", 31), ("bvh_test1", 24), ("bvh_test3", 60), ("rotation_first_root", 4)):
        read = load_recording(shared_data / f"bvh/{file}.bvh")
        assert len(read.skeleton.names) == bones
        lengths = np.linalg.norm(np.diff(read.positions[:, [0, 1]], axis=1), axis=2)
        assert np.ptp(lengths) < 1e-9 * max(1.0, lengths.max()), "bones keep their lengths"
    dance = load_recording(shared_data / "bvh/05_20-mb.bvh")
    anatomy = read_anatomy(dance.skeleton, dance.positions[::100])
    feet = [dance.skeleton.index[anatomy.parts["foot", side]] for side in "lr"]
    assert np.abs(np.percentile(dance.positions[:, feet, 2], 5)) < 0.15, "it stands on the ground, Z up"


def test_blender_reads_the_same_dance(shared_data: Path) -> None:
    """Its importer's positions, by the file's own first frames, worked out by hand from the file."""
    dance = load_recording(shared_data / "bvh/05_20-mb.bvh", up="y")
    text = (shared_data / "bvh/05_20-mb.bvh").read_text().split("Frame Time:")[1].split("\n")[1:3]
    for k, line in enumerate(text):
        x, y, z = map(float, line.split()[:3])
        scale = np.linalg.norm(dance.positions[k, 0]) / np.linalg.norm([x, y, z])
        np.testing.assert_allclose(dance.positions[k, 0], scale * np.array([x, -z, y]), atol=1e-9)


def test_positions_of_joints_give_back_bones_that_turn(tmp_path: Path) -> None:
    motion = walking(skeleton("lafan1")[0])
    names = np.array(motion.skeleton.names)
    np.savez(tmp_path / "m.npz", positions=motion.positions, joint_names=names, fps=30.0)
    read = load_recording(tmp_path / "m.npz")
    parents = read.skeleton.parents
    assert parents[read.skeleton.index["Hips"]] == -1
    for name in ("UpLeg", "Leg", "Foot", "Toe", "ForeArm", "Hand"):  # the trunk does not bend in this motion
        bone = read.skeleton.index[f"Left{name}"]
        assert parents[bone] == motion.skeleton.parents[bone], "found by distances that do not change"
    np.testing.assert_allclose(read.positions, motion.positions, atol=1e-12)
    hips = read.skeleton.index["Hips"]
    turns = rotation(read.quaternions[:, hips]) * rotation(motion.quaternions[:, hips]).inv()
    assert (turns * turns[0].inv()).magnitude().max() < 1e-6, "the hips turn as three joints around them do"
    lying = motion.positions[:, :, [0, 2, 1]] * [1, 1, -1]
    np.savez(tmp_path / "m.npz", joints=100 * lying, names=names, times=motion.times, parents=motion.skeleton.parents)
    np.testing.assert_allclose(
        load_recording(tmp_path / "m.npz").positions / motion.positions.max(),
        1.7 / np.median(np.ptp(motion.positions[:, :, 2], axis=1)) * motion.positions / motion.positions.max(),
        atol=1e-9,
    )


def test_a_character_comes_back_to_the_last_bit_whatever_its_size_and_axes(tmp_path: Path) -> None:
    """What Blender has read is not turned upright, scaled or guessed again."""
    motion = bending("mixamo")
    bones = motion.skeleton
    sideways = motion.positions[:, :, [2, 0, 1]] * 7.3
    skeleton_there = Skeleton(
        tuple(f"骨 {name}" for name in bones.names), bones.parents, bones.positions * 7.3, bones.quaternions, bones.tips
    )
    written = SkeletonMotion(skeleton_there, motion.times, sideways, motion.quaternions)
    save_recording(written, tmp_path / "c.npz")
    read = load_recording(tmp_path / "c.npz")
    assert read.skeleton.names == written.skeleton.names
    for name in ("parents", "positions", "quaternions", "tips"):
        np.testing.assert_array_equal(getattr(read.skeleton, name), getattr(written.skeleton, name))
    for name in ("times", "positions", "quaternions"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
    with np.load(tmp_path / "c.npz") as file:
        arrays = dict(file)
    for change, words in (
        ({"tips": None}, "a character without the array tips"),
        ({"times": arrays["times"][::-1]}, "times must be increasing"),
        ({"times": arrays["times"][:0]}, "times must be increasing"),
        ({"quaternions": 2.0 * arrays["quaternions"]}, "quaternions must be unit quaternions"),
        ({"positions": arrays["positions"][1:]}, "positions must have the shape"),
        ({"parents": arrays["parents"] + 1}, "without a circle"),
        ({"rest_positions": arrays["rest_positions"] * np.nan}, "rest_positions must be finite"),
    ):
        kept = {name: array for name, array in (arrays | change).items() if array is not None}
        np.savez(tmp_path / "w.npz", **kept)
        with pytest.raises(ClipError, match=rf"w\.npz: .*{words}") as caught:
            load_recording(tmp_path / "w.npz")
        assert "\n" not in str(caught.value)


RISING = np.arange(18.0).reshape(3, 2, 3)
WRONG_ARRAYS = {
    "no names": ({"positions": np.zeros((3, 2, 3)), "fps": 30}, "no array names or joint_names"),
    "no rate": ({"positions": np.zeros((3, 2, 3)), "names": ["a", "b"]}, "no array fps or mocap_framerate"),
    "nothing": ({"x": np.zeros(3)}, "no array positions or joint_positions"),
    "shape": ({"positions": np.zeros((3, 3, 3)), "names": ["a", "b"], "fps": 30}, "must have the shape (T, 2, 3)"),
    "nan": ({"positions": np.full((3, 2, 3), np.nan), "names": ["a", "b"], "fps": 30}, "positions must be finite"),
    "no frame": ({"positions": np.zeros((0, 2, 3)), "names": ["a", "b"], "fps": 30}, "it holds no frame of motion"),
    "fast": ({"positions": RISING, "names": ["a", "b"], "fps": 1e9}, "its frames are 1e-09 s apart; it must"),
    "far": ({"positions": RISING * [[[1]], [[1]], [[1e30]]], "names": ["a", "b"], "fps": 9}, "m away in frame 2; it"),
    "circle": (
        {"positions": np.ones((3, 2, 3)), "names": ["a", "b"], "fps": 30, "parents": [1, 0]},
        "without a circle",
    ),
    "poses": ({"poses": np.zeros((3, 66)), "trans": np.zeros((3, 3)), "fps": 30}, "give that model as an npz"),
}


@pytest.mark.parametrize("case", WRONG_ARRAYS)
def test_wrong_archives_get_one_sentence(tmp_path: Path, case: str) -> None:
    arrays, words = WRONG_ARRAYS[case]
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(ClipError) as caught:
        load_recording(tmp_path / "m.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'm.npz'}: ")
    assert words in str(caught.value)


@pytest.fixture
def body(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """A model of the SMPL family: one vertex a joint, a shape that makes it taller; its file, joints and parents."""
    rng = np.random.default_rng(3)
    parents = np.array([-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21])
    rest = rng.normal(size=(24, 3))
    rest[NAMES.index("Head")] = (0.0, 0.0, 1.7)
    shapes = np.zeros((24, 3, 2))
    shapes[:, :, 0] = 0.1 * rest
    table = np.stack([np.where(parents < 0, 2**32 - 1, parents), np.arange(24)]).astype(np.uint32)
    np.savez(
        tmp_path / "model.npz", J_regressor=np.eye(24), v_template=rest, shapedirs=shapes, kintree_table=table,
        weights=np.array([None], dtype=object),
    )  # fmt: skip
    return tmp_path / "model.npz", rest, parents


def test_poses_of_a_body_model(tmp_path: Path, body: tuple[Path, np.ndarray, np.ndarray]) -> None:
    """The joints by homogeneous transforms, one after the other."""
    model, rest, parents = body
    rng = np.random.default_rng(4)
    poses, way = 0.4 * rng.normal(size=(5, 24, 3)), rng.normal(size=(5, 3))
    arrays = {"poses": poses.reshape(5, -1), "trans": way, "betas": np.array([1.0, 0.0, 9.0])}
    np.savez(tmp_path / "m.npz", mocap_framerate=120.0, gender="neutral", **arrays)
    read = load_recording(tmp_path / "m.npz", model, up="z")
    joints = 1.1 * rest
    for t in range(5):
        world = [np.eye(4)] * 24
        for k in range(24):
            local = np.eye(4)
            local[:3, :3] = Rotation.from_rotvec(poses[t, k]).as_matrix()
            local[:3, 3] = joints[k] - (joints[parents[k]] if parents[k] >= 0 else 0.0)
            world[k] = (world[parents[k]] if parents[k] >= 0 else np.eye(4)) @ local
        there = np.array([m[:3, 3] for m in world]) + way[t]
        scale = np.linalg.norm(read.positions[t, 1] - read.positions[t, 0]) / np.linalg.norm(there[1] - there[0])
        np.testing.assert_allclose(read.positions[t], scale * there[:22], atol=1e-9)
    assert read.times.tolist() == (np.arange(5) / 120.0).tolist()
    assert read.skeleton.names == NAMES


def test_body_models_that_cannot_be_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", poses=np.zeros((3, 66)), trans=np.zeros((3, 3)), mocap_framerate=60)
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04.")
    np.savez(tmp_path / "half.npz", v_template=np.zeros((4, 3)))
    for model, words in (
        ("model.pkl", "the body model .*model.pkl: not an archive of arrays"),
        ("half.npz", "half.npz: no array J_regressor, shapedirs, kintree_table; there are v_template"),
        ("none.npz", "there is no such file"),
    ):
        with pytest.raises(ClipError, match=words):
            load_recording(tmp_path / "m.npz", tmp_path / model)


def test_a_file_that_is_cut_off_between_two_frames_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "m.bvh").write_text(GOOD.replace("Frames: 2", "Frames: 300"))
    assert len(load_recording(tmp_path / "m.bvh").times) == 2
    assert caplog.messages == [f"{tmp_path / 'm.bvh'}: it says that it has 300 frames, and has 2; is it cut off?"]
    caplog.clear()
    for said in ("Frames: 2", "Frames: 1", "Frames: many", ""):
        (tmp_path / "m.bvh").write_text(GOOD.replace("Frames: 2", said))
        load_recording(tmp_path / "m.bvh")
    assert caplog.messages == []
