"""A robot in Blender's first scene, with its cube: where it stands and how large it is seen. tests/gui/run starts this
inside Blender."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402
from bpy_extras.view3d_utils import location_3d_to_region_2d  # noqa: E402
from mathutils import Vector  # noqa: E402

from tests.gui.window import here, picture, root, run, until, view  # noqa: E402
from tools.installed import install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")


def arrive() -> Iterator[float]:
    """The walker beside the cube, near and far."""
    install(ARCHIVE)
    yield 0.5
    picture("arriving_1_before")
    for name, distance in (("near", None), ("far", 200.0)):
        if distance:
            bpy.data.batch_remove([root(), *root().children_recursive])
            view().spaces[0].region_3d.view_distance = distance
            yield 0.5
        with bpy.context.temp_override(**here()):
            bpy.ops.robik.import_robot(filepath=str(CHECKOUT / "robik/data/robots/walker.robik.json"))
        yield from until(lambda: root() is not None, 300, "the robot")
        yield 1.5
        picture(f"arriving_2_{name}")
        assert root().location.y < -1.0, "the cube hides the robot"
        assert height_in_view() > 0.5, "the robot is small"


def height_in_view() -> float:
    """Of the robot, by the view's height."""
    region = next(region for region in view().regions if region.type == "WINDOW")
    meshes = [o for o in root().children_recursive if o.type == "MESH"]
    corners = [o.matrix_world @ Vector(corner) for o in meshes for corner in o.bound_box]
    seen = [location_3d_to_region_2d(region, view().spaces[0].region_3d, corner).y for corner in corners]
    return (min(max(seen), region.height) - max(min(seen), 0.0)) / region.height


run(arrive)
