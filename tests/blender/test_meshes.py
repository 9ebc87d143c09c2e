"""Meshes of a robot: each kind of file with its size, place and materials, and nothing else of what it holds."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.formats import save_robot
from bl_ext.user_default.robik.robik.mechanism import Body, Mechanism, Visual

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified><unit name="centimeter"
  meter="0.01"/>
<up_axis>Z_UP</up_axis></asset>
<library_images><image id="pic"><init_from>dots.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><lambert><diffuse><color>0.1 0.6 0.2 1</color>
</diffuse></lambert>
</technique></profile_COMMON></effect>
<effect id="t"><profile_COMMON><newparam sid="s"><surface type="2D"><init_from>pic</init_from></surface></newparam>
<newparam sid="p"><sampler2D><source>s</source></sampler2D></newparam><technique sid="c"><lambert><diffuse>
<texture texture="p" texcoord="UV"/></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m" name="green"><instance_effect url="#e"/></material>
<material id="n" name="dotted"><instance_effect url="#t"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="v"><float_array id="va"
  count="12">0 0 0 10 0 0 10 20 0 0 20 0</float_array>
<technique_common><accessor source="#va" count="4" stride="3"><param name="X" type="float"/><param name="Y"
  type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<source id="w"><float_array id="wa" count="8">0 0 1 0 1 1 0 1</float_array>
<technique_common><accessor source="#wa" count="4" stride="2"><param name="S" type="float"/><param name="T"
  type="float"/></accessor>
</technique_common></source><vertices id="p"><input semantic="POSITION" source="#v"/></vertices>
<polylist count="1" material="a"><input semantic="VERTEX" source="#p" offset="0"/><input semantic="TEXCOORD" source="#w"
  offset="1"/>
<vcount>4</vcount><p>0 0 1 1 2 2 3 3</p></polylist>
<triangles count="1" material="b"><input semantic="VERTEX" source="#p" offset="0"/><input semantic="TEXCOORD"
  source="#w" offset="1"/>
<p>0 0 2 2 1 1</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="vs"><node><translate>0 0 5</translate><instance_geometry url="#g">
<bind_material>
<technique_common><instance_material symbol="a" target="#m"/><instance_material symbol="b"
  target="#n"/></technique_common>
</bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#vs"/></scene></COLLADA>
"""


def build(folder: Path, *files: str, color: tuple = (0.8, 0.8, 0.8, 1.0)) -> tuple[list[bpy.types.Object], list[str]]:
    """The visuals of a robot with these meshes, and the warnings."""
    robot = Mechanism(
        "shape", (Body("only", 1.0, visuals=tuple(Visual("mesh", (1, 1, 1), color=color, file=f) for f in files)),)
    )
    builder = installed.module("scene.robot.builder").Builder(robot, str(folder / "shape.robik.json"))
    root = builder.build(bpy.context.scene.collection)
    return installed.module("scene.robot.parts").parts(root)["VISUAL"], builder.warnings


def dotted(path: Path) -> None:
    """A picture."""
    image = bpy.data.images.new("dots", 4, 4)
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


def picture_of(material: bpy.types.Material) -> str:
    """The file of the picture that gives its colour."""
    return next(Path(n.image.filepath).name for n in material.node_tree.nodes if n.type == "TEX_IMAGE" and n.image)


def corners(mesh: bpy.types.Mesh) -> set[tuple]:
    return {tuple(round(c, 4) for c in v.co) for v in mesh.vertices}


def test_missing_mesh_has_a_placeholder(tmp_path: Path) -> None:
    robot = Mechanism("lost", (Body("only", 1.0, visuals=(Visual("mesh", (2, 2, 2), file="gone.stl"),)),))
    save_robot(robot, tmp_path / "lost.robik.json")
    builder = installed.module("scene.robot.builder").Builder(robot, str(tmp_path / "lost.robik.json"))
    root = builder.build(bpy.context.scene.collection)
    assert len(builder.warnings) == 1
    assert "gone.stl" in builder.warnings[0]
    assert scenes.read(root) == robot


@pytest.mark.parametrize(
    ("extension", "write"), [(".stl", "stl_export"), (".obj", "obj_export"), (".ply", "ply_export")]
)
def test_meshes_come_in_as_they_are(tmp_path: Path, extension: str, write: str) -> None:
    bpy.ops.mesh.primitive_cone_add(radius1=0.5, depth=3.0, location=(0.2, 0.4, 0.9))
    axes = {"forward_axis": "Y", "up_axis": "Z"}
    getattr(bpy.ops.wm, write)(filepath=str(tmp_path / f"part{extension}"), **axes)
    corners = {
        tuple(round(c, 4) for c in bpy.context.object.matrix_world @ v.co) for v in bpy.context.object.data.vertices
    }
    bpy.data.objects.remove(bpy.context.object)
    robot = Mechanism("shape", (Body("only", 1.0, visuals=(Visual("mesh", (1, 1, 1), file=f"part{extension}"),) * 2),))
    builder = installed.module("scene.robot.builder").Builder(robot, str(tmp_path / "shape.robik.json"))
    visuals = installed.module("scene.robot.parts").parts(builder.build(bpy.context.scene.collection))["VISUAL"]
    assert builder.warnings == []
    assert visuals[0].data == visuals[1].data
    assert {tuple(round(c, 4) for c in v.co) for v in visuals[0].data.vertices} == corners


def test_gltf_comes_with_places_and_materials_and_nothing_else(tmp_path: Path) -> None:
    dotted(tmp_path / "dots.png")
    holder = bpy.data.objects.new("holder", None)
    bpy.context.scene.collection.objects.link(holder)
    holder.location, holder.scale = (1, 2, 3), (2, 2, 2)
    expected = set()
    for k, color in enumerate([(1, 0, 0, 1), (0, 0, 1, 1)]):
        bpy.ops.mesh.primitive_cube_add(location=(k, 0, 0))
        cube = bpy.context.object
        cube.parent = holder
        cube.data.materials.append(installed.module("scene.robot.visuals").painted_material(f"paint{k}", color)[0])
        bpy.context.view_layer.update()
        expected |= {tuple(round(c, 4) for c in cube.matrix_world @ v.co) for v in cube.data.vertices}
    bpy.ops.object.camera_add()
    bpy.ops.object.light_add()
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "part.glb"), export_cameras=True, export_lights=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    (visual,), warnings = build(tmp_path, "part.glb")
    assert warnings == []
    assert corners(visual.data) == expected
    assert len(visual.data.materials) == 2
    shown = {visual.material_slots[p.material_index].material.name for p in visual.data.polygons}
    assert shown == {"paint0", "paint1"}
    assert len(bpy.data.objects) == 3  # root, body, visual
    assert (len(bpy.data.meshes), len(bpy.data.cameras), len(bpy.data.lights), len(bpy.data.armatures)) == (1, 0, 0, 0)


def test_obj_comes_with_its_picture_unless_the_robot_names_a_colour(tmp_path: Path) -> None:
    dotted(tmp_path / "dots.png")
    (tmp_path / "part.mtl").write_text("newmtl shiny\nKd 0.2 0.4 0.6\nmap_Kd dots.png\n", encoding="utf-8")
    (tmp_path / "part.obj").write_text(
        "mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl shiny\nf 1/1 2/2 3/3\n",
        encoding="utf-8",
    )
    (visual,), warnings = build(tmp_path, "part.obj")
    assert warnings == []
    assert picture_of(visual.material_slots[0].material) == "dots.png"
    (red,), _ = build(tmp_path, "part.obj", color=(1, 0, 0, 1))
    assert red.material_slots[0].material.name == "RobIK #ff0000ff"


def test_collada_comes_in_metres_with_colours_and_pictures(tmp_path: Path) -> None:
    dotted(tmp_path / "dots.png")
    (tmp_path / "part.dae").write_text(DAE, encoding="utf-8")
    (visual,), warnings = build(tmp_path, "part.dae")
    assert warnings == []
    assert corners(visual.data) == {(0, 0, 0.05), (0.1, 0, 0.05), (0.1, 0.2, 0.05), (0, 0.2, 0.05)}
    assert [m.name for m in visual.data.materials] == ["green", "dotted"]
    assert tuple(visual.data.materials[0].diffuse_color) == pytest.approx((0.1, 0.6, 0.2, 1))
    assert picture_of(visual.data.materials[1]) == "dots.png"
    square = next(p for p in visual.data.polygons if len(p.vertices) == 4)
    assert visual.material_slots[square.material_index].material.name == "green"
    uv = visual.data.uv_layers[0].data
    assert [tuple(uv[i].uv) for i in square.loop_indices] == [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("part.obj", "mtllib ../../secret.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "leads out"),
        ("part.obj", "mtllib '../../secret.mtl'\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "leads out"),
        ("part.obj", 'mtllib "../../secret.mtl"\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n', "leads out"),
        ("part.obj", "v 0 0 0\n  mtllib \\\n../../secret.mtl\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "leads out"),
        ("part.obj", "mtllib ..\\..\\secret.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "leads out"),
        ("part.obj", "mtllib near.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "leads out"),
        ("own.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl x\nf 1 2 3\n", "leads out"),
        (
            "part.gltf",
            '{"asset": {"version": "2.0"}, "buffers": [{"uri": "../../../etc/passwd", "byteLength": 3}]}',
            "leads out",
        ),
        (
            "part.gltf",
            '{"asset": {"version": "2.0"}, "buffers": [{"uri": "..\\\\..\\\\secret.mtl", "byteLength": 3}]}',
            "leads out",
        ),
        (
            "part.gltf",
            '{"asset": {"version": "2.0"}, "images": [{"uri": "%2e%2e%2f%2e%2e%2fsecret.mtl"}]}',
            "leads out",
        ),
        ("part.gltf", '{"buffers": 3}', "no glTF"),
        ("part.dae", '<!DOCTYPE x [<!ENTITY a "b">]><COLLADA>&a;</COLLADA>', "DOCTYPE"),
        ("part.dae", "<COLLADA/>", "no mesh"),
        ("part.blend", "BLENDER", "convert it"),
        ("part.stl", "", "cannot be read|no mesh"),
    ],
)
def test_bad_mesh_is_a_warning_and_a_placeholder(tmp_path: Path, name: str, text: str, says: str) -> None:
    folder = tmp_path / "up" / "r"
    folder.mkdir(parents=True)
    (tmp_path / "secret.mtl").write_text("newmtl secret\nKd 1 0 0\n", encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "near.mtl").write_text('newmtl x\nmap_Kd -s 1 1 1 -o 0 "../../secret.png"\n', encoding="utf-8")
    (folder / "own.mtl").write_text("newmtl x\nmap_Kd ../../secret.png\n", encoding="utf-8")
    (visual,), warnings = build(folder, name)
    assert len(warnings) == 1
    assert any(part in warnings[0] for part in says.split("|")), warnings
    assert max(visual.dimensions) == pytest.approx(0.02)
    assert len(bpy.data.meshes) == 1


def test_import_stopped_between_meshes_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    (tmp_path / "other.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    visuals = tuple(Visual("mesh", (1, 1, 1), file=f) for f in ("part.obj", "other.obj"))
    save_robot(Mechanism("two", (Body("only", 1.0, visuals=visuals),)), tmp_path / "two.robik.json")
    before = scenes.everything()
    steps = installed.module("scene.importing.robot_file").import_steps(bpy.context, str(tmp_path / "two.robik.json"))
    said = []
    while not said or "other.obj" not in said[-1]:
        said.append(next(steps).text)
    assert len(bpy.data.meshes) == before["meshes"] + 1
    steps.close()
    assert scenes.everything() == before


def test_large_stl_is_read_in_steps_as_blender_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.ops.mesh.primitive_torus_add(major_radius=0.3, minor_radius=0.1)
    bpy.ops.wm.stl_export(filepath=str(tmp_path / "part.stl"), forward_axis="Y", up_axis="Z")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    (whole,), _ = build(tmp_path, "part.stl")
    monkeypatch.setattr(installed.module("scene.robot.mesh_import"), "LARGE", 0)
    (stepped,), warnings = build(tmp_path, "part.stl")
    assert warnings == []
    assert corners(stepped.data) == corners(whole.data)
    assert (len(stepped.data.vertices), len(stepped.data.edges)) == (len(whole.data.vertices), len(whole.data.edges))
    assert len(stepped.data.polygons) == len(whole.data.polygons)
    assert not stepped.data.validate()
    (tmp_path / "part.stl").write_bytes(b"solid nothing")
    (cube,), warnings = build(tmp_path, "part.stl")
    assert len(warnings) == 1
    assert max(cube.dimensions) == pytest.approx(0.02)


def test_meshes_of_mujoco_are_shown(tmp_path: Path) -> None:
    """Those that stand in an MJCF file itself, and MuJoCo's own kind of file."""
    corners = "0 0 0  1 0 0  0 1 0  0 0 2"
    assets = f'<mesh name="inner" vertex="{corners}"/><mesh name="outer" file="outer.msh"/>'
    geoms = '<geom type="mesh" mesh="inner"/><geom type="mesh" mesh="outer"/>'
    world = f'<worldbody><body name="a"><joint/>{geoms}</body></worldbody>'
    (tmp_path / "r.xml").write_text(f'<mujoco model="r"><asset>{assets}</asset>{world}</mujoco>')
    counts = np.array([4, 0, 0, 4], np.int32)
    points, faces = np.array(corners.split(), np.float32), np.array([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3], np.int32)
    (tmp_path / "outer.msh").write_bytes(counts.tobytes() + points.tobytes() + faces.tobytes())
    assert bpy.ops.robik.import_robot(filepath=str(tmp_path / "r.xml")) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert not root.robik.robot.warnings
    for visual in installed.module("scene.robot.parts").parts(root)["VISUAL"]:
        assert (len(visual.data.vertices), len(visual.data.polygons)) == (4, 4)
        assert tuple(visual.dimensions) == pytest.approx((1.0, 1.0, 2.0))
        assert sum(face.normal.dot(face.center - visual.data.vertices[0].co) >= 0 for face in visual.data.polygons) == 4
