"""A USD robot in Blender: by Blender's own pxr where it brings one, with the meshes that lie in it."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np

from robik.formats import import_robot
from tests.blender import scenes


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
    np.testing.assert_allclose([b.pose.position for b in found.bodies], [b.pose.position for b in expected.bodies], atol=1e-12)
    shown = [child for body in scenes.body_objects(root) for child in body.children if child.type == "MESH"]
    assert len(shown) == 10
    assert min(len(each.data.polygons) for each in shown) > 12  # no placeholders
    corners = np.array([each.matrix_world @ v.co for each in shown for v in each.data.vertices])
    assert np.ptp(corners, axis=0).max() < 0.3  # metres
