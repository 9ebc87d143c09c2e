"""A robot in the scene: built from its file, read back, edited."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.errors import RobikError
from bl_ext.user_default.robik.robik.formats import save_robot
from bl_ext.user_default.robik.robik.mechanism import (
    WORLD,
    Body,
    Coupling,
    Frame,
    Joint,
    Mechanism,
    Pose,
    Resistance,
    Visual,
)

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_joint_s_angles_are_shown_in_degrees_and_kept_in_radians() -> None:
    root = scenes.import_robot("boxer")
    joint = next(o for o in root.children_recursive if o.robik.kind == "JOINT" and o.robik.label == "elbow").robik.joint
    assert joint.from_angle[0] == pytest.approx(joint.lower[0])
    assert joint.bl_rna.properties["from_angle"].unit == "ROTATION"
    joint.to_angle[0] = 1.5
    assert joint.upper[0] == pytest.approx(1.5)
    assert next(j for j in scenes.read(root).joints if j.name == "elbow").limits == (
        (pytest.approx(joint.lower[0]), pytest.approx(1.5)),
    )
    joint.turning_speed = 2.0
    assert joint.velocity_limit == pytest.approx(2.0)


@pytest.mark.parametrize("name", robots.names())
def test_scene_gives_the_mechanism_back(name: str) -> None:
    assert scenes.read(scenes.import_robot(name)) == robots.load(name)


def awkward() -> Mechanism:
    """Every joint type, numbers that single precision cannot hold, missing and one-sided limits, a coupling, a sole."""
    third, turn = 1.0 / 3.0, Pose((0.1, 0.2, 0.7), (0.5, 0.5, -0.5, 0.5))
    tiny = (1e-9 / 3, 2e-9 / 3, 3e-9 / 3, 1e-12 / 3, 0.0, -1e-12 / 7)
    visuals = (
        Visual("capsule", (0.01, third), pose=Pose((third, 0, 0), (0.6, 0.8, 0, 0)), color=(0.1, 0.2, third, 1)),
        Visual("sphere", (0.1,)),
    )
    bodies = [Body("a", 1 / 7, com=(third, 0, 1e-7 / 3), inertia=tiny, pose=turn, visuals=visuals)]
    joints = [Joint("ground", "free", WORLD, "a", position=(third, 0, 0))]
    types = (
        "fixed",
        "revolute",
        "prismatic",
        "cylindrical",
        "universal",
        "spherical",
        "planar",
        "cartesian",
        "general",
    )
    for k, type_ in enumerate(types):
        bodies.append(Body(f"b{k}", 0.0, pose=Pose((k * third, 1e3 / 3, 0))))
        joints.append(
            Joint(
                f"j{k}", type_, f"b{k - 1}" if k else "a", f"b{k}", position=(k * third, 0.1, 1 / 7),
                axis=(third, 0.2, 1),
                axis2=None if k % 2 else (0, 1, 0),
                actuated=type_ in ("revolute", "prismatic", "universal"),
                limits={"revolute": ((-np.inf, 1 / 7),), "universal": ((-third, third), (-np.inf, np.inf))}.get(type_,
                    ()),
                velocity_limit=1 / 7 if type_ == "revolute" else np.inf,
                motions=("tx", "rz") if type_ == "general" else (),
                resistance=Resistance(third, 1 / 7, 1e-3 / 7, 2.0 / 3, -0.1) if type_ == "revolute" else Resistance(),
                cone=5 / 7 if type_ == "spherical" else np.inf,
                turn_limit=8 / 7 if type_ == "spherical" else np.inf,
                rest={"revolute": (-1 / 3,), "spherical": (0.1 / 3, 0.2, 0.3)}.get(type_, ()),
            )
        )  # fmt: skip
    frame = Frame("sole", "b3", Pose((third, 0, 0)), ((0, 0, third), (third, 0, 0), (0, third, 0)))
    return Mechanism(
        "awkward",
        tuple(bodies),
        tuple(joints),
        frames=(frame,),
        couplings=(Coupling("gear", "j2", "j1", (0.0, 1 / 3, 1e-9 / 7)),),
    )


def test_numbers_survive_to_the_last_bit(tmp_path: Path) -> None:
    robot = awkward()
    save_robot(robot, tmp_path / "awkward.robik.json")
    bpy.ops.robik.import_robot(filepath=str(tmp_path / "awkward.robik.json"))
    assert scenes.read(bpy.context.scene.robik.robot) == robot


def test_file_keeps_the_robot(tmp_path: Path) -> None:
    scenes.import_robot("walker")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "robot.blend"))
    assert scenes.read(bpy.context.scene.robik.robot) == robots.load("walker")


def test_edits_count_and_the_rest_stays_exact() -> None:
    root, before = scenes.import_robot("walker"), robots.load("walker")
    parts = installed.module("scene.robot.parts").parts(root)
    joint = next(j for j in parts["JOINT"] if j.robik.label == "knee_l")
    joint.location.x += 0.01
    joint.robik.joint.velocity_limit = 2.0
    body = parts["BODY"][3]
    body.robik.body.mass = 0.25
    after = scenes.read(root)
    assert after.bodies[3].mass == 0.25
    assert after.bodies[:3] + after.bodies[4:] == before.bodies[:3] + before.bodies[4:]
    assert after.bodies[3].com == before.bodies[3].com
    k = next(k for k, j in enumerate(before.joints) if j.name == "knee_l")
    assert np.linalg.norm(np.subtract(after.joints[k].position, before.joints[k].position)) == pytest.approx(
        0.01, rel=1e-4
    )
    assert after.joints[k].velocity_limit == 2.0
    assert after.joints[k].axis == before.joints[k].axis
    assert after.joints[:k] + after.joints[k + 1 :] == before.joints[:k] + before.joints[k + 1 :]


def test_posing_is_no_edit() -> None:
    root = scenes.import_robot("walker")
    for body in scenes.body_objects(root):
        body.location.x += 1.0
    root.location = (1, 2, 3)
    assert scenes.read(root) == robots.load("walker")


def test_duplicate_is_a_robot_of_its_own() -> None:
    root = scenes.import_robot("boxer")
    for part in [root, *root.children_recursive]:
        part.hide_set(False)
        part.select_set(True)
    bpy.ops.object.duplicate()
    copy = next(o for o in bpy.context.selected_objects if o.robik.kind == "ROBOT")
    assert copy != root
    bpy.data.objects.remove(scenes.body_objects(root)[2])
    assert scenes.read(copy) == robots.load("boxer")


def test_deleted_body_is_named() -> None:
    root = scenes.import_robot("boxer")
    body = next(b for b in scenes.body_objects(root) if b.robik.label == "forearm")
    bpy.context.scene.collection.objects.link(body)
    body.parent = None
    with pytest.raises(RobikError, match=r"elbow.*forearm"):
        scenes.read(root)


def test_reloading_keeps_what_was_set() -> None:
    root = scenes.squats()
    scenes.body_objects(root)[0].robik.body.mass = 99.0
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert scenes.read(root) == robots.load("walker")
    assert [t.frame for t in root.robik.robot.character.targets] == ["pelvis", "foot_l", "foot_r"]


def test_what_the_reader_found_stays_with_the_robot() -> None:
    root = scenes.import_robot("walker")
    assert "6 loops, 18 degrees of freedom, 12 motors" in root.robik.robot.report
    assert root.robik.robot.warnings == ""


@pytest.mark.parametrize(
    ("shape", "size", "extent"), [("box", (1, 2, 3), (1, 2, 3)), ("cylinder", (0.5, 2), (1, 1, 2)), ("sphere", (1,), (2,
        2, 2)),
    ("capsule", (0.5, 2), (1, 1, 3))],
)  # fmt: skip
def test_primitives_have_their_size(shape: str, size: tuple, extent: tuple) -> None:
    mesh = installed.module("scene.robot.visuals").primitive(Visual(shape, size))
    corners = np.array([v.co for v in mesh.vertices])
    assert np.ptp(corners, axis=0) == pytest.approx(extent, rel=0.01)
    assert np.abs(corners.max(axis=0) + corners.min(axis=0)).max() < 1e-6
    assert not mesh.validate(), "nothing had to be mended"
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.polygons) == 2, "a closed surface"
    assert all(face.normal.dot(face.center) > 0 for face in mesh.polygons), "seen from outside"
    assert [face.use_smooth for face in mesh.polygons].count(False) == {"box": 6, "cylinder": 2}.get(shape, 0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"format": "robik"', "line 1"),
        (None, "there is no such file"),
    ],
)
def test_bad_file_changes_nothing(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "bad.robik.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    before = scenes.everything()
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.robik.import_robot(filepath=str(path))
    assert scenes.everything() == before


def test_too_long_a_name_changes_nothing(tmp_path: Path) -> None:
    robot = Mechanism("long", (Body("a", 1.0),), (Joint("n" * 64, "revolute", WORLD, "a", actuated=True),))
    save_robot(robot, tmp_path / "long.robik.json")
    before = scenes.everything()
    with pytest.raises(RuntimeError, match=r"64 bytes.*63"):
        bpy.ops.robik.import_robot(filepath=str(tmp_path / "long.robik.json"))
    assert scenes.everything() == before


def test_the_tolerance_of_a_linkage_is_set_in_blender() -> None:
    root = scenes.import_robot("walker")
    assert scenes.read(root).tolerance == 3e-5
    root.robik.robot.tolerance = 1e-4
    reading = installed.module("scene.robot.reading")
    assert reading.read_moving_parts(root).tolerance == pytest.approx(1e-4)
