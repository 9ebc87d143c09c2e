"""Robots built and mended by hand: plates with holes become linkages."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.errors import RobikError
from bl_ext.user_default.robik.robik.formats import import_robot
from bl_ext.user_default.robik.robik.formats.mesh_data import write_stl
from bl_ext.user_default.robik.robik.kinematics.forward import body_poses
from bl_ext.user_default.robik.robik.kinematics.mobility import inspect
from bl_ext.user_default.robik.robik.mechanism import WORLD, Body, Joint, Mechanism, Pose
from bpy.types import Object
from mathutils import Euler, Vector

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

FOUR = {
    "ground": [(0, 0), (0.4, 0)], "crank": [(0, 0), (0.05, 0.1)], "coupler": [(0.05, 0.1), (0.4, 0.3)],
    "rocker": [(0.4, 0.3), (0.4, 0)],
}  # fmt: skip
FIVE = {
    "ground": [(0, 0), (0.2, 0)], "left": [(0, 0), (-0.1, 0.2)], "left_tip": [(-0.1, 0.2), (0.1, 0.4)],
    "right_tip": [(0.1, 0.4), (0.3, 0.2)], "right": [(0.3, 0.2), (0.2, 0)],
}  # fmt: skip
THICK, HOLE = 0.01, 0.008


def plate(name: str, ends: list[tuple], layer: int) -> Object:
    """A box along two points with a drilled hole at each, in its layer."""
    a, b = np.array([*ends[0], 0.0]), np.array([*ends[1], 0.0])
    middle, along = (a + b) / 2 + [0, 0, layer * THICK], b - a
    bpy.ops.mesh.primitive_cube_add(size=1, location=middle, rotation=(0, 0, np.arctan2(along[1], along[0])))
    bar = bpy.context.object
    bar.name, bar.scale = name, (np.linalg.norm(along) + 0.04, 0.03, THICK)
    for end in (a, b):
        bpy.ops.mesh.primitive_cylinder_add(radius=HOLE, depth=1, vertices=24, location=(*end[:2], layer * THICK))
        drill = bpy.context.object
        cut = bar.modifiers.new("hole", "BOOLEAN")
        cut.object, cut.operation, cut.solver = drill, "DIFFERENCE", "EXACT"
        bpy.context.view_layer.objects.active = bar
        bpy.ops.object.modifier_apply(modifier=cut.name)
        bpy.data.objects.remove(drill)
    bpy.context.view_layer.update()
    return bar


def select(*chosen: Object) -> None:
    """These alone, the last one active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    for each in chosen:
        each.select_set(True)
    bpy.context.view_layer.objects.active = chosen[-1]


def hinge(carrier: Object, moved: Object, at: tuple, **properties: object) -> None:
    """Selects both plates, and in Edit Mode the rims of the carrier's hole there; then adds a joint."""
    select(moved, carrier)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.tool_settings.mesh_select_mode = (False, True, False)
    for shown in (moved, carrier):
        mesh = bmesh.from_edit_mesh(shown.data)
        for face in mesh.faces:
            face.select_set(False)
        for edge in mesh.edges:
            ends = [shown.matrix_world @ v.co for v in edge.verts]
            on_rim = (
                all(abs(np.hypot(e.x - at[0], e.y - at[1]) - HOLE) < 1e-4 for e in ends)
                and abs(ends[0].z - ends[1].z) < 1e-6
            )
            edge.select_set(shown == carrier and on_rim)
        bmesh.update_edit_mesh(shown.data)
    try:
        assert bpy.ops.robik.add_joint(type="revolute", anchor="CIRCLE", **properties) == {"FINISHED"}
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def linkage(bars: dict[str, list], motors: tuple[str, ...]) -> Object:
    """Plates that hang together in a ring, the first one standing still; hinges are named after the plates that they
    tie."""
    plates = {name: plate(name, ends, layer) for layer, (name, ends) in enumerate(bars.items())}
    ring = [*bars, next(iter(bars))]
    for one, other in pairwise(ring):
        (at,) = set(bars[one]) & set(bars[other])
        hinge(plates[one], plates[other], at, name=f"{one}-{other}", actuated=f"{one}-{other}" in motors)
    select(plates["ground"])
    assert bpy.ops.robik.set_ground() == {"FINISHED"}
    return bpy.context.scene.robik.robot


def by_hand(bars: dict[str, list], motors: tuple[str, ...]) -> Mechanism:
    """The same, written down."""
    bodies = []
    for layer, (name, (a, b)) in enumerate(bars.items()):
        half = np.arctan2(b[1] - a[1], b[0] - a[0]) / 2
        pose = Pose(
            ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, layer * THICK), (float(np.cos(half)), 0, 0, float(np.sin(half)))
        )
        bodies.append(Body(name, pose=pose))
    joints = []
    for layer, (one, other) in enumerate(pairwise([*bars, next(iter(bars))])):
        (at,) = set(bars[one]) & set(bars[other])
        joints.append(
            Joint(
                f"{one}-{other}",
                "revolute",
                one,
                other,
                position=(*at, layer * THICK),
                axis=(0, 0, 1),
                actuated=f"{one}-{other}" in motors,
            )
        )
    joints.append(Joint("ground", "fixed", WORLD, "ground"))
    return Mechanism("robot", tuple(bodies), tuple(joints))


@pytest.mark.parametrize(
    ("bars", "motors", "mobility"),
    [(FOUR, ("ground-crank",), 1), (FIVE, ("ground-left", "right-ground"), 2)],
    ids=["four-bar", "five-bar"],
)
def test_plates_with_holes_become_a_linkage(bars: dict, motors: tuple, mobility: int) -> None:
    root = linkage(bars, motors)
    built, wanted = scenes.read(root), by_hand(bars, motors)
    assert [b.name for b in built.bodies] == [b.name for b in wanted.bodies]
    assert [(j.name, j.type, j.parent, j.child) for j in built.joints] == [
        (j.name, j.type, j.parent, j.child) for j in wanted.joints
    ]
    assert set(built.actuators) == set(motors)
    assert root.robik.robot.warnings == ""
    for mine, theirs in zip(built.joints[:-1], wanted.joints[:-1], strict=True):
        np.testing.assert_allclose(mine.position, theirs.position, atol=1e-6)
        assert abs(np.dot(mine.axis, theirs.axis)) == pytest.approx(1.0, abs=1e-6)
    found = inspect(built)
    assert (found.mobility, found.loops) == (mobility, 1)
    turned = np.array([[0.2, -0.1][: len(motors)], [-0.3, 0.25][: len(motors)]])
    mine, theirs = body_poses(built, turned), body_poses(wanted, turned)
    np.testing.assert_allclose(mine[0], theirs[0], atol=5e-6)


def without_files(mechanism: Mechanism) -> Mechanism:
    bodies = (
        replace(b, visuals=tuple(replace(v, file=Path(v.file).name) for v in b.visuals)) for b in mechanism.bodies
    )
    return mechanism.with_changes(bodies=tuple(bodies))


def cube(name: str, **how: object) -> Object:
    bpy.ops.mesh.primitive_cube_add(**how)
    bpy.context.object.name = name
    return bpy.context.object


def test_what_was_built_bakes_saves_and_exports(tmp_path: Path) -> None:
    root = linkage(FOUR, ("ground-crank",))
    select(*(bpy.data.objects[name] for name in FOUR))
    assert bpy.ops.robik.set_mass(material="2700") == {"FINISHED"}
    built = scenes.read(root)
    bar = built.bodies[0]
    drilled = (0.44 * 0.03 - 2 * 12 * HOLE**2 * np.sin(2 * np.pi / 24)) * THICK  # 24 corners
    assert bar.mass == pytest.approx(2700 * drilled, rel=1e-4)
    np.testing.assert_allclose(bar.com, 0, atol=1e-6)
    assert bar.inertia[2] == pytest.approx(
        bar.inertia[0] + bar.inertia[1] - bar.mass * THICK**2 / 6, rel=1e-3
    )  # a thin plate's sum
    scenes.follow(scenes.empty("path", [(0.06 + 0.002 * k, 0.11, 0.02) for k in range(4)]), "coupler")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert root.robik.robot.result.residual < 1e-9
    assert bpy.ops.robik.preflight() == {"FINISHED"}
    for name in ("bar.robik.json", "bar.xml", "bar.urdf"):
        assert bpy.ops.robik.export_robot(filepath=str(tmp_path / name)) == {"FINISHED"}
        again = import_robot(tmp_path / name)
        assert again.warnings == ()
        assert inspect(again.mechanism).mobility == 1
        assert all(
            v.shape == "mesh" and (tmp_path / v.file).is_file() for b in again.mechanism.bodies for v in b.visuals
        )
    assert without_files(import_robot(tmp_path / "bar.robik.json").mechanism) == without_files(built)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "bar.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "bar.blend"))
    assert scenes.read(bpy.context.scene.robik.robot) == built


def test_a_lost_loop_is_closed_again() -> None:
    root = scenes.import_robot("walker")
    before = scenes.read(root)
    cut = before.joints[[j.name for j in before.joints].index("knee_l")]
    joints = installed.module("scene.robot.parts").parts(root)["JOINT"]
    shown = next(j for j in joints if j.robik.label == cut.name)
    shown.hide_set(False)
    select(shown)
    motors = len(before.actuators)
    assert bpy.ops.robik.remove_joint() == {"FINISHED"}
    assert inspect(scenes.read(root)).mobility != inspect(before).mobility
    assert len(scenes.read(root).actuators) == motors - cut.actuated
    bodies = {b.robik.label: b for b in scenes.body_objects(root)}
    cursor = bpy.context.scene.cursor
    cursor.location = cut.position
    cursor.rotation_mode = "QUATERNION"
    cursor.rotation_quaternion = Vector((0, 0, 1)).rotation_difference(Vector(cut.axis))
    select(bodies[cut.child], bodies[cut.parent])
    assert bpy.ops.robik.add_joint(type=cut.type, anchor="CURSOR", name=cut.name, actuated=cut.actuated) == {"FINISHED"}
    after = scenes.read(root)
    assert inspect(after).mobility == inspect(before).mobility
    assert set(after.actuators) == set(before.actuators)
    values = np.array([[v for j in after.actuated for v in j.rest]]) + 0.05
    order = [before.actuators.index(name) for name in after.actuators]
    theirs = np.empty_like(values)
    theirs[:, order] = values
    np.testing.assert_allclose(body_poses(after, values)[0], body_poses(before, theirs)[0], atol=2e-5)


def test_built_joint_survives_reading_the_file_again() -> None:
    root = scenes.import_robot("boxer")
    bodies = {b.robik.label: b for b in scenes.body_objects(root)}
    names = list(bodies)
    select(bodies[names[-1]], bodies[names[0]])
    assert bpy.ops.robik.add_joint(type="spherical", name="extra") == {"FINISHED"}
    with_it = scenes.read(root)
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert scenes.read(root) == with_it
    assert "extra" in {j.robik.label for j in root.children_recursive if j.robik.by_hand}


def test_export_replaces_no_other_mesh(tmp_path: Path) -> None:
    """Neither one of a CAD file, nor that of another body whose name is alike."""
    (tmp_path / "meshes" / "arm").mkdir(parents=True)
    cad = [tmp_path / "meshes" / "bracket.stl", tmp_path / "meshes" / "arm" / "a_b.stl"]
    for file in cad:
        write_stl(file, np.eye(3), np.array([[0, 1, 2]]))
    before = [file.read_bytes() for file in cad]
    links = "".join(
        f'<link name="l{k}"><visual><geometry><mesh filename="{f.relative_to(tmp_path)}"/></geometry></visual></link>'
        for k, f in enumerate(cad)
    )
    tied = '<joint name="j" type="fixed"><parent link="l0"/><child link="l1"/></joint>'
    (tmp_path / "cad.urdf").write_text(f'<robot name="r">{links}{tied}</robot>')
    bpy.ops.robik.import_robot(filepath=str(tmp_path / "cad.urdf"))
    root = bpy.context.scene.robik.robot
    edges = {"bracket": 0.1, "a/b": 0.2, "a:b": 0.3}
    for name, edge in edges.items():
        select(cube(name, size=edge, location=(1, 0, 0)), scenes.body_objects(root)[0])
        assert bpy.ops.robik.add_joint(type="revolute") == {"FINISHED"}
    for _ in range(2):  # again into the same file
        assert bpy.ops.robik.export_robot(filepath=str(tmp_path / "arm.urdf")) == {"FINISHED"}
    assert [file.read_bytes() for file in cad] == before
    read = import_robot(tmp_path / "arm.urdf").mechanism
    for name, edge in edges.items():
        shown = read.bodies[read.body_index[name]].visuals[0]
        assert np.ptp(stl_vertices(tmp_path / shown.file), axis=0) * shown.size == pytest.approx([edge] * 3, rel=1e-6)
    assert len(list(tmp_path.rglob("*.stl"))) == 5


def stl_vertices(file: Path) -> np.ndarray:
    raw = np.frombuffer(file.read_bytes()[84:], np.uint8).reshape(-1, 50)[:, 12:48]
    return np.ascontiguousarray(raw).view("<f4").reshape(-1, 3)


def test_sheared_mesh_keeps_its_shape_and_weight() -> None:
    stretched = bpy.data.objects.new("stretched", None)
    bpy.context.scene.collection.objects.link(stretched)
    stretched.scale = (2, 1, 0.5)
    straight, turned = (
        cube("straight", size=0.2),
        cube("turned", size=0.3, rotation=(0.3, 0.5, 0.7), location=(1, 0, 0)),
    )
    for each in (straight, turned):
        each.parent = stretched
    bpy.context.view_layer.update()
    before = [world_vertices(each) for each in (straight, turned)]
    select(straight, turned)
    assert bpy.ops.robik.make_robot() == {"FINISHED"}
    assert bpy.ops.robik.set_mass(material="2700") == {"FINISHED"}
    bpy.context.view_layer.update()
    for each, was in zip((straight, turned), before, strict=True):
        np.testing.assert_allclose(world_vertices(each), was, atol=1e-6)
    assert [b.robik.body.mass for b in scenes.body_objects(bpy.context.scene.robik.robot)] == pytest.approx(
        [2700 * 0.008, 2700 * 0.027], rel=1e-4
    )


def test_mesh_with_delta_transforms_stays_where_it_stands() -> None:
    """As Object > Apply > Transforms to Deltas leaves it."""
    one, two = cube("one", size=0.2), cube("two", size=0.2, location=(1, 0, 0), rotation=(0.3, 0.5, 0.7))
    two.delta_location, two.delta_rotation_euler, two.delta_scale = (0, 0.3, 0), (0.2, 0.3, 0), (2, 1, -1)
    bpy.context.view_layer.update()
    before = world_vertices(two)
    select(one, two)
    assert bpy.ops.robik.make_robot() == {"FINISHED"}
    bpy.context.view_layer.update()
    np.testing.assert_allclose(world_vertices(two), before, atol=1e-6)


def test_mesh_that_something_else_moves_is_refused() -> None:
    one, two, three = (cube(name, size=0.2, location=(k, 0, 0)) for k, name in enumerate(("one", "held", "keyed")))
    two.constraints.new("COPY_LOCATION").target = one
    three.keyframe_insert("location", frame=1)
    for each in (two, three):
        select(one, each)
        with pytest.raises(RuntimeError, match=f"{each.name!r} is moved by constraints, keys or drivers"):
            bpy.ops.robik.add_joint()
        assert {one.robik.kind, each.robik.kind} == {"NONE"}


def world_vertices(shown: Object) -> np.ndarray:
    return np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])


def test_mistakes_are_said_and_change_nothing() -> None:
    one, two, three = (plate(name, FOUR[name], k) for k, name in enumerate(("ground", "crank", "coupler")))
    before = scenes.everything()

    def refused(says: str, operator: object, **properties: object) -> None:
        now = scenes.everything()
        with pytest.raises(RuntimeError, match=says):
            operator(**properties)
        assert scenes.everything() == now

    select(one)
    refused("select two", bpy.ops.robik.add_joint)
    select(one, two)
    refused("no motor can drive", bpy.ops.robik.add_joint, type="fixed", actuated=True)
    refused("Edit Mode", bpy.ops.robik.add_joint, anchor="FACE")
    assert scenes.everything() == before
    assert one.robik.kind == "NONE"
    assert bpy.ops.robik.add_joint(name="pin") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    refused("no motor drives robot", bpy.ops.robik.reduce_keys)
    refused("no motor drives robot", bpy.ops.robik.export_motion, filepath="/nowhere.csv")
    select(two, three)
    refused("'pin' already", bpy.ops.robik.add_joint, name="pin")
    assert three.robik.kind == "NONE"
    select(root)
    refused("no body is selected", bpy.ops.robik.set_ground)
    refused("no joint is selected", bpy.ops.robik.remove_joint)
    ground = next(b for b in scenes.body_objects(root) if b.robik.label == "ground")
    ground.location.x += 0.1
    select(three, one)
    refused("Rest Pose", bpy.ops.robik.add_joint)
    assert bpy.ops.robik.rest_pose() == {"FINISHED"}
    assert bpy.ops.robik.add_joint() == {"FINISHED"}


def test_parts_that_nothing_ties_are_named() -> None:
    shown = [plate(name, ends, k) for k, (name, ends) in enumerate(FOUR.items())]
    select(*shown)
    assert bpy.ops.robik.make_robot(name="linkage") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert "4 unconnected parts" in root.robik.robot.warnings
    with pytest.raises(RobikError, match="unconnected"):
        scenes.read(root)
    hinge(shown[0], shown[1], (0, 0))
    assert "3 unconnected parts" in root.robik.robot.warnings


def test_motors_and_limits_by_hand() -> None:
    root = linkage(FOUR, ())
    joint = next(j for j in root.children_recursive if j.robik.label == "ground-crank")
    select(joint)
    assert bpy.ops.robik.set_motor(on=True) == {"FINISHED"}
    assert root["ground-crank"] == 0.0
    assert np.isinf(scenes.read(root).actuated[0].velocity_limit)
    for given, known in ((4.5, 4.5), (0.0, 4.5), (3.0, 3.0)):
        assert bpy.ops.robik.set_motor(on=True, speed=given) == {"FINISHED"}
        assert scenes.read(root).actuated[0].velocity_limit == known
    assert bpy.ops.robik.set_limits(from_angle=-0.5, to_angle=0.25) == {"FINISHED"}
    assert scenes.read(root).actuated[0].limits[0] == pytest.approx((-0.5, 0.25))
    assert root.id_properties_ui("ground-crank").as_dict()["max"] == pytest.approx(0.25)
    joint.robik.joint.type = "prismatic"
    assert root.id_properties_ui("ground-crank").as_dict()["subtype"] == "DISTANCE"
    joint.robik.joint.actuated = False
    assert "ground-crank" not in root


def test_diagnosis_marks_what_cannot_move_until_it_is_mended() -> None:
    root = linkage(FOUR, ("ground-crank",))
    assert bpy.ops.robik.diagnose() == {"FINISHED"}
    assert "nothing contradicts" in root.robik.robot.diagnosis
    joint = next(j for j in root.children_recursive if j.robik.label == "coupler-rocker")
    assert joint.robik.joint.finding == "REDUNDANT"
    joint.rotation_quaternion = joint.rotation_quaternion @ Euler((0.0, 0.02, 0.0)).to_quaternion()
    bpy.context.view_layer.update()
    assert bpy.ops.robik.diagnose() == {"FINISHED"}
    assert joint.robik.joint.finding == "ASKEW"
    assert "cannot move: ground-crank" in root.robik.robot.diagnosis
    ((_, shapes),) = installed.module("scene.overlay.views").shapes_in(bpy.context)
    assert any("coupler-rocker: askew" in text for _, text, _ in shapes.labels)
    assert len(shapes.lines) >= 4 * 3
    select(joint)
    assert bpy.ops.robik.set_motor(on=True) == {"FINISHED"}
    assert joint.robik.joint.finding == "NONE"
    assert root.robik.robot.diagnosis == ""
