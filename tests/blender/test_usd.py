"""A USD robot in Blender: by Blender's own pxr where it brings one, with the meshes that lie in it."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.formats import import_robot

from tests.blender import installed, scenes

PAINTED = """#usda 1.0
(
    defaultPrim = "r"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "r"
{
    def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        double physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        def Mesh "plate" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            rel material:binding = </r/looks/red>
            uniform token subsetFamily:materialBind:familyType = "partition"
            int[] faceVertexCounts = [4, 4]
            int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
            texCoord2f[] primvars:layout = [(0, 0), (0.5, 0), (0.5, 1), (0, 1), (1, 0), (1, 1)] (
                interpolation = "vertex")
            def GeomSubset "dots" (prepend apiSchemas = ["MaterialBindingAPI"])
            {
                uniform token elementType = "face"
                uniform token familyName = "materialBind"
                int[] indices = [1]
                rel material:binding = </r/looks/dotted>
            }
        }
        def Mesh "tile" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            rel material:binding = </r/looks/dotted>
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            uniform token orientation = "leftHanded"
            point3f[] points = [(0, 0, 1), (0, 1, 1), (1, 0, 1)]
            texCoord2f[] primvars:st = [(0, 0), (0, 0.25), (0.5, 0)] (interpolation = "faceVarying")
        }
    }
    def Scope "looks"
    {
        def Material "red"
        {
            color3f inputs:tint = (0.9, 0.1, 0.2)
            token outputs:surface.connect = </r/looks/red/shader.outputs:surface>
            def Shader "shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor.connect = </r/looks/red.inputs:tint>
                float inputs:roughness = 0.25
                float inputs:metallic = 0.75
                token outputs:surface
            }
        }
        def Material "dotted"
        {
            token outputs:surface.connect = </r/looks/dotted/shader.outputs:surface>
            def Shader "shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = (0, 0, 1)
                color3f inputs:diffuseColor.connect = </r/looks/dotted/picture.outputs:rgb>
                token outputs:surface
            }
            def Shader "picture"
            {
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = @PICTURE@
                float2 inputs:st.connect = </r/looks/dotted/reader.outputs:result>
                float3 outputs:rgb
            }
            def Shader "reader"
            {
                uniform token info:id = "UsdPrimvarReader_float2"
                string inputs:varname = "layout"
                float2 outputs:result
            }
        }
    }
}
"""


def test_blenders_own_pxr_is_used_where_there_is_one() -> None:
    from pxr import Usd

    assert ("bpy" in Path(Usd.__file__).parts) == hasattr(bpy.utils, "expose_bundled_modules"), sys.path


def test_looped_usd_is_built_with_its_meshes(empty_scene: None, shared_data: Path) -> None:
    file = shared_data / "dr_testmech" / "usd" / "dr_testmech.usda"
    assert bpy.ops.robik.import_robot(filepath=str(file)) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    expected, found = import_robot(file).mechanism, scenes.read(root)
    assert found.actuators == expected.actuators == ("motor",)
    # Another test may have reloaded the library, and with it the classes.
    assert [repr(b.visuals) for b in found.bodies] == [repr(b.visuals) for b in expected.bodies]
    np.testing.assert_allclose(
        [b.pose.position for b in found.bodies], [b.pose.position for b in expected.bodies], atol=1e-12
    )
    shown = [child for body in scenes.body_objects(root) for child in body.children if child.type == "MESH"]
    assert len(shown) == 10
    assert min(len(each.data.polygons) for each in shown) > 12  # no placeholders
    corners = np.array([each.matrix_world @ v.co for each in shown for v in each.data.vertices])
    assert np.ptp(corners, axis=0).max() < 0.3  # metres


def painted(folder: Path, kind: str, picture: str = "looks/dots.png") -> Path:
    """A robot with a red and dotted mesh, in a file of this kind."""
    from pxr import Sdf, UsdUtils

    folder.mkdir(exist_ok=True)
    image = bpy.data.images.new("dots", 2, 2)
    image.pixels[:4] = (0, 1, 0, 1)
    (folder / "looks").mkdir(exist_ok=True)
    image.filepath_raw, image.file_format = str(folder / "looks" / "dots.png"), "PNG"
    image.save()
    bpy.data.images.remove(image)
    text = folder / "robot.usda"
    text.write_text(PAINTED.replace("PICTURE", picture), encoding="utf-8")
    file = folder / f"robot{kind}"
    if kind == ".usdz":
        assert UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(text)), str(file))
        text.unlink()
        (folder / "looks" / "dots.png").unlink()  # it must come from inside
    elif kind != ".usda":
        Sdf.Layer.FindOrOpen(str(text)).Export(str(file))
    return file


def shown_picture(material: bpy.types.Material) -> bpy.types.Image:
    """What gives its colour."""
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    (link,) = shader.inputs["Base Color"].links
    return link.from_node.image


@pytest.mark.parametrize("kind", [".usda", ".usdc", ".usd", ".usdz"])
def test_usd_meshes_come_with_materials_and_pictures(kind: str, empty_scene: None, tmp_path: Path) -> None:
    assert bpy.ops.robik.import_robot(filepath=str(painted(tmp_path / "r", kind))) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert root.robik.robot.warnings == ""
    meshes = {
        o.data.name.partition(".")[0]: o
        for body in scenes.body_objects(root)
        for o in body.children
        if o.type == "MESH"
    }
    plate, tile = meshes["plate"], meshes["tile"]
    names = [slot.material.name for slot in plate.material_slots]
    assert names == ["/r/looks/dotted", "/r/looks/red"]
    assert [names[p.material_index] for p in plate.data.polygons] == ["/r/looks/red", "/r/looks/dotted"]
    red, dotted = plate.material_slots[1].material, plate.material_slots[0].material
    assert tile.material_slots[0].material == dotted  # one for all meshes
    assert tuple(red.diffuse_color) == pytest.approx((0.9, 0.1, 0.2, 1))
    shader = next(node for node in red.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    assert shader.inputs["Roughness"].default_value == pytest.approx(0.25)
    assert shader.inputs["Metallic"].default_value == pytest.approx(0.75)
    picture = shown_picture(dotted)
    assert tuple(picture.size) == (2, 2)
    assert list(picture.pixels)[:8] == pytest.approx([0, 1, 0, 1, 0, 0, 0, 1])
    assert (picture.packed_file is not None) == (kind == ".usdz")
    assert [tuple(corner.uv) for corner in plate.data.uv_layers[0].data][4:] == [(0.5, 0), (1, 0), (1, 1), (0.5, 1)]
    assert [tuple(corner.uv) for corner in tile.data.uv_layers[0].data] == [
        (0.5, 0),
        (0, 0.25),
        (0, 0),
    ]  # turned with its face
    np.testing.assert_allclose(tile.data.polygons[0].normal, (0, 0, 1))


def test_packed_pictures_stay_with_the_saved_scene(empty_scene: None, tmp_path: Path) -> None:
    file = painted(tmp_path / "r", ".usdz")
    assert bpy.ops.robik.import_robot(filepath=str(file)) == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    file.unlink()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    picture = shown_picture(bpy.data.materials["/r/looks/dotted"])
    assert list(picture.pixels)[:4] == pytest.approx([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("picture", "says"), [("../secret.png", "leads out"), ("looks/gone.png", "there is no picture")]
)
def test_picture_that_is_missing_or_elsewhere_is_a_warning(
    picture: str, says: str, empty_scene: None, tmp_path: Path
) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    assert bpy.ops.robik.import_robot(filepath=str(painted(tmp_path / "r", ".usda", picture))) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert says in root.robik.robot.warnings
    assert len(root.robik.robot.warnings.splitlines()) == 1
    assert len(bpy.data.images) == 0


def test_import_stopped_after_a_painted_mesh_leaves_nothing(empty_scene: None, tmp_path: Path) -> None:
    file = painted(tmp_path / "r", ".usdz")
    before = scenes.everything()
    steps = installed.module("scene.importing.robot_file").import_steps(bpy.context, str(file))
    while len(bpy.data.meshes) < before["meshes"] + 1:
        next(steps)
    assert len(bpy.data.images) == 1
    steps.close()
    assert scenes.everything() == before
    assert len(bpy.data.images) == 0


def test_meshes_of_references_into_packages_are_read(empty_scene: None, tmp_path: Path) -> None:
    painted(tmp_path / "parts", ".usda")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "robot.usda").write_text(
        '#usda 1.0\n(\ndefaultPrim = "r"\nmetersPerUnit = 1\nupAxis = "Z"\n)\n'
        'def Xform "r" (prepend references = @../parts/robot.usda@)\n{\n}\n', encoding="utf-8"
    )  # fmt: skip
    assert bpy.ops.robik.import_robot(
        filepath=str(tmp_path / "r" / "robot.usda"), packages=str(tmp_path / "parts")
    ) == {"FINISHED"}
    assert bpy.context.scene.robik.robot.robik.robot.warnings == ""
    assert {image.name for image in bpy.data.images} == {"dots.png"}
