"""Collision shapes of files and meshes, the pairs that may touch, and depths that are known by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import robots
from robik.bench.walking import walk_clip
from robik.cli import main
from robik.clips.clip import TargetClip, Track, save_clip
from robik.collision.files import told_collisions
from robik.collision.judge import Judge
from robik.collision.measure import measure_penetration, with_penetration
from robik.collision.pairs import pairs_that_can_touch
from robik.collision.shapes import CollisionShape, capsule, hull_or_capsule
from robik.errors import ClipError
from robik.formats import import_robot
from robik.mechanism import Body, Joint, Mechanism, Pose, Visual
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.surroundings.ground import Ground

LOOSE = Mechanism(
    "two",
    (Body("a"), Body("b", pose=Pose((3.0, 0.0, 0.0)))),
    (Joint("f", "free", "world", "a"), Joint("g", "free", "world", "b")),
)
CUBE = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
TURNED = Rotation.from_euler("y", 30.0, degrees=True)


def motion_of(places: np.ndarray, turns: Rotation | None = None) -> Motion:
    """Body a at the origin, and body b at some places."""
    frames = len(places)
    position = np.stack([np.zeros((frames, 3)), places], axis=1)
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 2, 1))
    if turns is not None:
        quaternion[:, 1] = np.roll(turns.as_quat(), 1)
    times = np.arange(frames) / 10.0
    return Motion(
        times=times, actuators=(), values=np.zeros((frames, 0)), bodies=("a", "b"), position=position,
        quaternion=quaternion, com=np.zeros((frames, 3)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "at", "depth"),
    [
        (("sphere", (0.5,)), ("sphere", (0.3,)), (0.0, 0.7, 0.0), 0.1),
        (("sphere", (0.5,)), ("sphere", (0.3,)), (0.0, 0.9, 0.0), 0.0),
        (("box", (0.5, 0.5, 0.5)), ("sphere", (0.2,)), (0.6, 0.1, 0.0), 0.1),
        (("capsule", (0.1, 0.5)), ("capsule", (0.1, 0.5)), (0.15, 0.0, 0.3), 0.05),
        (("cylinder", (0.3, 0.2)), ("sphere", (0.2,)), (0.1, 0.0, 0.35), 0.05),
        (("hull", ()), ("sphere", (0.2,)), (0.6, 0.1, 0.2), 0.1),
        (("hull", ()), ("hull", ()), (0.97, 0.2, 0.1), 0.03),
    ],
)
def test_depths_by_hand(a: tuple, b: tuple, at: tuple[float, float, float], depth: float) -> None:
    shapes = [
        CollisionShape(body=body, kind=kind, size=size, points=CUBE if kind == "hull" else np.zeros((0, 3)))
        for body, (kind, size) in (("a", a), ("b", b))
    ]
    found = measure_penetration(LOOSE, shapes, motion_of(np.array([(5.0, 0.0, 0.0), at])))
    assert found.as_data()["self_penetration_mm"] == pytest.approx(1e3 * depth, abs=1e-2)
    if depth:
        (row,) = found.as_data()["self_penetration_pairs"]
        assert (row["bodies"], row["frame"], row["frames"]) == (["a", "b"], 1, 0.5)
        assert "in sample 1, the robot in itself in 50 % of the samples" in str(found)
    else:
        assert str(found) == "the robot goes neither into itself nor into the ground"


@pytest.mark.parametrize(
    ("kind", "size", "below"),
    [
        ("sphere", (0.2,), 0.2),
        ("capsule", (0.1, 0.5), 0.1 + 0.5 * np.cos(np.pi / 6)),
        ("cylinder", (0.3, 0.2), 0.3 * np.sin(np.pi / 6) + 0.2 * np.cos(np.pi / 6)),
        ("box", (0.1, 0.2, 0.3), 0.1 * np.sin(np.pi / 6) + 0.3 * np.cos(np.pi / 6)),
        ("hull", (), 0.5 * (np.sin(np.pi / 6) + np.cos(np.pi / 6))),
    ],
)
def test_the_lowest_point_of_a_shape_that_leans(kind: str, size: tuple[float, ...], below: float) -> None:
    shape = CollisionShape(body="b", kind=kind, size=size, points=CUBE)
    motion = motion_of(np.array([[0.0, 0.0, 5.0], [0.0, 0.0, below - 0.03]]), TURNED)
    found = measure_penetration(LOOSE, [shape], motion, Ground(0.0)).as_data()
    assert found["ground_penetration_mm"] == pytest.approx(30.0, abs=1e-6)
    assert found["ground_penetration_frames"] == 0.5
    assert [(row["body"], row["frame"]) for row in found["ground_penetration_bodies"]] == [("b", 1)]


@pytest.mark.parametrize("seed", range(5))
def test_a_capsule_holds_its_points_and_is_no_wider_than_it_must(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(0.0, (0.5, 0.1, 0.05), (200, 3)) @ Rotation.random(random_state=seed).as_matrix().T + 0.3
    made = capsule("a", points)
    radius, half = made.size
    own = (points - np.array(made.pose.position)) @ made.pose.matrix
    outside = np.linalg.norm(own - np.outer(np.clip(own[:, 2], -half, half), [0.0, 0.0, 1.0]), axis=1) - radius
    assert outside.max() < 1e-9
    assert outside.max() > -1e-6 and radius < 0.5 and half < 2.0


def test_a_flat_mesh_is_a_capsule_and_a_point_nothing() -> None:
    flat = hull_or_capsule("a", np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.2, 0.0), (1.0, 0.2, 0.0)]))
    assert flat is not None and flat.kind == "capsule"
    solid = hull_or_capsule("a", np.concatenate([CUBE, 0.3 * CUBE]))
    assert solid is not None and solid.kind == "hull" and len(solid.points) == 8
    assert hull_or_capsule("a", np.zeros((4, 3))) is None


def chain() -> tuple[Mechanism, list[CollisionShape]]:
    """Four links on hinges, each of 1 m; the third touches the first in rest, and a lump always touches the fourth."""
    bodies = tuple(Body(f"l{k}", pose=Pose((float(k), 0.0, 0.0))) for k in range(5))
    joints = tuple(
        Joint(f"j{k}", "revolute", "world" if k == 0 else f"l{k - 1}", f"l{k}", position=(float(k), 0.0, 0.0),
              axis=(0.0, 0.0, 1.0), actuated=True, limits=((-3.0, 3.0),))
        for k in range(5)
    )  # fmt: skip
    shapes = [
        CollisionShape(body=f"l{k}", kind="box", size=(0.4, 0.1, 0.1), pose=Pose((0.5, 0.0, 0.0))) for k in range(4)
    ]
    shapes += [CollisionShape(body="l2", kind="sphere", size=(0.3,), pose=Pose((-1.0, 0.0, 0.0)))]
    shapes += [CollisionShape(body="l4", kind="sphere", size=(2.0,))]
    return Mechanism("chain", bodies, joints), shapes


def test_what_is_near_is_measured_wherever_on_its_body_it_is() -> None:
    """Shapes far from their bodies' origins: those within reach have the distances that all of them have."""
    rng = np.random.default_rng(4)
    aside = Pose((0.0, 0.4, 0.0))
    shapes = (
        CollisionShape(body="a", kind="capsule", size=(0.05, 0.3)),
        CollisionShape(body="a", kind="hull", points=0.2 * CUBE + [1.5, 0.0, 0.0]),
        CollisionShape(body="b", kind="box", size=(0.3, 0.02, 0.1), pose=aside),
        CollisionShape(body="b", kind="sphere", size=(0.1,)),
    )
    judge = Judge(LOOSE, shapes)
    motion = motion_of(rng.uniform(-0.8, 0.8, (300, 3)), Rotation.random(300, random_state=4))
    poses = motion.position, motion.quaternion
    all_of_them, near = (judge.distances(*poses, [(0, 1)], most)[:, 0] for most in (100.0, 0.3))
    assert 30 < (all_of_them < 0.3).sum() < 270
    np.testing.assert_allclose(near, np.minimum(all_of_them, 0.3), atol=1e-6)
    np.testing.assert_array_equal(judge.ways(*poses, [(0, 1)], 0.3)[0][:, 0], near)


def test_pairs_that_are_joined_or_touch_in_rest_are_left_out() -> None:
    robot, shapes = chain()
    assert pairs_that_can_touch(robot, shapes) == ((0, 3), (0, 4), (1, 3), (1, 4))
    assert pairs_that_can_touch(robot, shapes, [("l0", "l3")]) == ((0, 4), (1, 3), (1, 4))
    assert pairs_that_can_touch(robot, shapes[:1]) == ()


def test_a_file_that_ends_its_reader_ends_nothing_else(tmp_path: Path) -> None:
    """MuJoCo's reader goes down with its process over a file that attaches itself."""
    file = tmp_path / "self.xml"
    file.write_text(
        """<mujoco><asset><model name="me" file="self.xml"/></asset><worldbody>
        <body name="a"><geom size="0.1" mass="1"/><attach model="me" body="a" prefix="x_"/></body>
        </worldbody></mujoco>"""
    )
    robot = Mechanism("seen", (Body("a", 1.0, visuals=(Visual("sphere", (0.1,)),)),), ())
    assert [shape.kind for shape in told_collisions(robot, file).shapes] == ["sphere"]


def test_geoms_of_mjcf_and_its_exclusions(tmp_path: Path) -> None:
    file = tmp_path / "r.xml"
    file.write_text(
        """<mujoco><worldbody><body name="a"><freejoint/><geom type="capsule" size="0.1 0.4" pos="0 0 0.4"/>
        <geom type="sphere" size="9" contype="0" conaffinity="0"/>
        <body name="b" pos="1 0 0"><joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3"/>
        <body name="c" pos="1 0 0"><joint axis="0 1 0"/><geom type="cylinder" size="0.1 0.2"/></body></body></body>
        </worldbody><contact><exclude body1="a" body2="c"/></contact></mujoco>"""
    )
    told = told_collisions(import_robot(file).mechanism, file)
    assert [(s.body, s.kind, s.size) for s in told.shapes] == [
        ("a", "capsule", (0.1, 0.4)), ("b", "box", (0.1, 0.2, 0.3)), ("c", "cylinder", (0.1, 0.2))
    ]  # fmt: skip
    assert told.shapes[0].pose.position == (0.0, 0.0, 0.4)
    assert told.apart == (("a", "c"),)


def test_collisions_of_urdf_else_what_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    text = """<robot name="r"><link name="a"><visual><geometry><box size="2 2 2"/></geometry></visual>{}</link>
        <link name="b"><visual><origin xyz="0 0 1"/><geometry><sphere radius="0.5"/></geometry></visual></link>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    collision = '<collision><geometry><cylinder radius="0.3" length="0.8"/></geometry></collision>'
    for told, wanted in ((collision, [("a", "cylinder", (0.3, 0.4))]),
                         ("", [("a", "box", (1.0, 1.0, 1.0)), ("b", "sphere", (0.5,))])):  # fmt: skip
        file.write_text(text.format(told))
        shapes = told_collisions(import_robot(file).mechanism, file).shapes
        assert [(shape.body, shape.kind, shape.size) for shape in shapes] == wanted


def test_cubes_that_stand_for_meshes_collide_with_nothing(tmp_path: Path) -> None:
    """MuJoCo refuses this file for its forces, so what is seen counts; the hand's mesh is outside the folder."""
    (tmp_path / "robot").mkdir()
    file = tmp_path / "robot/arm.xml"
    file.write_text(
        """<mujoco><asset><mesh name="m" file="../outside.stl"/></asset><worldbody><body name="arm">
        <joint name="a" axis="0 1 0" actuatorfrclimited="true"/><geom type="sphere" size="0.05"/>
        <body name="hand" pos="0 0 0.3"><joint name="b" axis="1 0 0"/><geom type="mesh" mesh="m"/></body></body>
        </worldbody>
        <actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""
    )
    (tmp_path / "outside.stl").write_bytes(b"not to be read")
    mechanism = import_robot(file).mechanism
    hand = mechanism.bodies[mechanism.body_index["hand"]]
    assert [visual.shape for visual in hand.visuals] == ["box"]
    assert {shape.body for shape in told_collisions(mechanism, file).shapes} == {"arm"}


def test_a_robot_of_which_nothing_is_seen_is_not_judged() -> None:
    arm = robots.load("arm7")
    bare = arm.with_changes(bodies=tuple(Body(b.name, b.mass, com=b.com, pose=b.pose) for b in arm.bodies))
    clip = TargetClip(
        np.zeros(1), {bare.frames[-1].name: Track(np.array([bare.rest_pose(bare.frames[-1].name).position]))}
    )
    motion = retarget(bare, clip)
    assert with_penetration(bare, motion, clip) is motion
    with pytest.raises(ClipError, match="no report"):
        with_penetration(bare, Motion(times=clip.times, actuators=(), values=np.zeros((1, 0))), clip)


def test_a_foot_through_the_floor_and_a_leg_in_the_other_are_told() -> None:
    """On the walker's walk nothing is; with a foot sent down, and then through the other, that is found where it is."""
    walker = robots.load("walker")
    clip = walk_clip(walker, 30.0, True)
    settings = Settings(com_weight=(1.0, 1.0, 0.0), state_weight=None)
    good = with_penetration(walker, retarget(walker, clip, settings), clip).report
    assert good is not None and good.penetration is not None
    assert good.penetration.ground_share == 0.0 and good.penetration.ground_depths.max(initial=0.0) < 1e-4
    assert good.penetration.self_share == 0.0
    k = int(np.flatnonzero(~clip.tracks["foot_r"].contact)[10])
    place = np.array(clip.tracks["foot_r"].position)
    place[k] = (place[k, 0], clip.tracks["foot_l"].position[k, 1] + 0.03, place[0, 2] - 0.02)
    tracks = {**clip.tracks, "foot_r": replace(clip.tracks["foot_r"], position=place)}
    bad = with_penetration(walker, retarget(walker, replace(clip, tracks=tracks), settings), clip).report
    assert bad is not None and bad.penetration is not None
    told = bad.penetration.as_data()
    assert told["ground_penetration_bodies"][0]["frame"] == k
    assert told["ground_penetration_bodies"][0]["body"] == walker.frame("foot_r").body
    assert 10.0 < told["ground_penetration_mm"] < 25.0
    assert told["self_penetration_pairs"][0]["frame"] == k and told["self_penetration_mm"] > 1.0


def test_the_commands_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walker = robots.load("walker")
    save_clip(walk_clip(walker, 30.0, True).part(0, 20), tmp_path / "c.npz")
    report = tmp_path / "r.json"
    main(["solve", "walker", str(tmp_path / "c.npz"), "-o", str(tmp_path / "m.csv"), "--report", str(report)])
    assert "the robot goes neither into itself nor into the ground" in capsys.readouterr().out
    told = json.loads(report.read_text())["penetration"]
    assert told["self_penetration_mm"] == 0.0 and told["ground_penetration_frames"] == 0.0


def test_visuals_of_all_kinds() -> None:
    seen = (
        Visual("box", (1.0, 2.0, 3.0)), Visual("sphere", (0.2,)), Visual("cylinder", (0.1, 0.6)),
        Visual("capsule", (0.1, 0.6), pose=Pose((1.0, 0.0, 0.0))),
    )  # fmt: skip
    robot = Mechanism("one", (Body("a", visuals=seen),), (Joint("f", "free", "world", "a"),))
    shapes = told_collisions(robot).shapes
    assert [(s.kind, s.size) for s in shapes] == [
        ("box", (0.5, 1.0, 1.5)), ("sphere", (0.2,)), ("cylinder", (0.1, 0.3)), ("capsule", (0.1, 0.3))
    ]  # fmt: skip
