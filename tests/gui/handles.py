"""Handles of robots from the gallery, posed, and the panel of a live character: tests/gui/run 4.3 handles FOLDER.

It wants robots of other makers in .cache/gallery_shot: their repositories, or Reachy Mini's package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.shots import character, panels, start, walker, window, with_only  # noqa: E402
from tests.gui.window import call, robot, root, run, until, view  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
FOLDER = CHECKOUT / ".cache/gallery_shot"
ROBOTS = {"Reachy Mini": 0.9, "OMX-F": 1.1, "SO-ARM101": 1.1}  # distance of the view [m]


def shoot() -> Iterator[float]:
    """Each robot with its handles, then the panels of a character that is tracked."""
    install(ARCHIVE)
    yield from start()
    bpy.context.preferences.addons[PACKAGE].preferences.gallery = str(FOLDER)
    gallery = import_module(f"{PACKAGE}.scene.importing.gallery")
    with_only(("robot", "character"))
    for title, distance in ROBOTS.items():
        if title in [entry.title for entry in gallery.gallery()]:
            yield from posed(title, distance)
            bpy.data.batch_remove([*bpy.data.objects])
            yield 0.5
    with_only(())
    yield from walker()
    call(bpy.ops.robik.add_character)
    yield from character()
    yield from panels({"panel-live-character": ("character", "live_character")})


def posed(title: str, distance: float) -> Iterator[float]:
    """One robot, its handles moved."""
    call(bpy.ops.robik.import_gallery_robot, robot=title)
    yield from until(lambda: root() is not None, 300, title)
    space = view().spaces[0]
    space.region_3d.view_distance, space.region_3d.view_location = distance, (0.0, 0.0, 0.16)
    space.overlay.show_relationship_lines = True
    call(bpy.ops.robik.add_handles)
    yield 1.0
    yield from window(f"handles-{title}-rest")
    for row in robot().character.targets:
        if row.follows == "RELATIVE_TO" or "YXZ" in row.source.rotation_mode:
            row.source.rotation_euler.y += 0.5
        else:
            row.source.location.z -= 0.02
            row.source.location.x -= 0.01
    yield 4.0
    yield from window(f"handles-{title}")


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
