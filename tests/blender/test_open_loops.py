"""A robot whose loops do not close: the best pose found is drawn, what stays open in red."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.blender import installed, scenes
from tests.formats.mjcf_text import hopeless

pytestmark = pytest.mark.usefixtures("empty_scene")


def drawn() -> object:
    return installed.module("scene.overlay.views")._drawn_in(bpy.context.scene)


def test_the_best_pose_is_drawn_until_the_next_import(tmp_path: Path) -> None:
    views, path = installed.module("scene.overlay.views"), hopeless(tmp_path, links=3, chains=1)
    with pytest.raises(RuntimeError, match=r"cannot be assembled: loop .* stays open by"):
        bpy.ops.robik.import_robot(filepath=str(path))
    assert views.is_drawing()
    (shown,) = drawn()
    red = [
        points for points, color in zip(shown.shapes.lines, shown.shapes.line_colors, strict=True) if color[0, 1] < 0.3
    ]
    assert any(points[:, 2].max() > 99.0 for points in red)  # up to the post that is out of reach
    (text,) = views.open_loops(bpy.context.scene)
    assert text.endswith("mm")
    assert "open by 99" in text
    assert not bpy.context.scene.objects
    scenes.import_robot("boxer")
    assert not views.is_drawing()


def test_a_search_that_is_stopped_leaves_its_best_pose_drawn(tmp_path: Path) -> None:
    module, views = installed.module("scene.importing.robot_file"), installed.module("scene.overlay.views")
    steps = module.import_steps(bpy.context, str(hopeless(tmp_path, links=8, chains=2)))
    while "start 2" not in next(steps).text:
        pass
    steps.close()  # as ESC does
    assert views.open_loops(bpy.context.scene)
    assert bpy.ops.robik.hide_open_loops() == {"FINISHED"}
    assert not drawn()
    assert not views.is_drawing()
