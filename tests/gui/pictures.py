"""Pictures of docs/, taken again in a real window, in a dark theme and a light one: tests/gui/run starts this inside
Blender."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.editors import open_dope_sheet, open_graph_editor  # noqa: E402
from tests.gui.shots import (  # noqa: E402
    PANELS,
    THEMES,
    character,
    panels,
    servos,
    start,
    taken,
    themed,
    together,
    walker,
    window,
    with_only,
)
from tests.gui.sidebar import press  # noqa: E402
from tests.gui.window import call, region, result, robot, root, run, screen_height, until, view  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")

# Pictures of overlays: what is switched on, and what the motors show.
OVERLAYS = {
    "overlay-balance": (("com", "com_target", "support"), "NONE"),
    "overlay-misses": (("errors",), "NONE"),
    "overlay-joints": (("joints",), "NONE"),
    "overlay-speed": ((), "SPEED"),
    "overlay-reach": ((), "LIMIT"),
    "overlay-singular": ((), "SINGULAR"),
}


def shoot() -> Iterator[float]:
    """All of them."""
    install(ARCHIVE)
    yield from start()
    yield from tutorial()
    bpy.context.scene.robik.overlays.graph = True  # so that its menu is in the picture
    yield from panels(PANELS)
    bpy.context.scene.robik.overlays.graph = False
    yield from overlays()
    yield from graph()
    yield from editors()
    yield from servos()


def tutorial() -> Iterator[float]:
    """The steps of docs/tutorial.md."""
    yield from walker()
    yield from window("tutorial-robot")
    yield from press("robik.add_character")
    yield from character()
    yield from press("robik.auto_map", 0.2)
    yield from window("tutorial-auto-map")
    press_return()
    yield from until(lambda: len(robot().character.targets) == 3, 60, "the mapping")
    robot().balance.mode, robot().balance.pin_feet = "AUTO", True
    yield from window("tutorial-character")
    call(bpy.ops.robik.bake)
    yield from until(lambda: result().frames > 0, 600, "a bake")
    call(bpy.ops.robik.detect_contacts)
    bpy.context.scene.robik.overlays.graph = True
    bpy.context.scene.frame_set(60)
    with_only(("bake", "result"))
    yield from window("tutorial-result")
    bpy.context.scene.robik.overlays.graph = False


def overlays() -> Iterator[float]:
    """The robot near by, with each of them."""
    scene, space = bpy.context.scene, view().spaces[0]
    show, overlay = scene.robik.overlays, import_module(f"{PACKAGE}.scene.overlay.views")
    scene.frame_set(max(result().actuators, key=lambda row: row.peak_velocity).frame)
    space.region_3d.view_location = next(o for o in root().children_recursive if o.robik.label == "torso").location
    space.region_3d.view_location.z, space.region_3d.view_distance = 0.24, 0.95
    robot().character.rig.hide_set(True)
    for child in robot().character.rig.children:
        child.hide_set(True)
    main = region("WINDOW")
    left, high = main.x + main.width // 2 - 190, screen_height() - main.y - main.height // 2 - 280
    for name, (on, motors) in OVERLAYS.items():
        for each in on:
            setattr(show, each, True)
        show.motors = motors
        yield from until(overlay.is_drawn, 120, name)
        yield 0.5
        for theme in THEMES:
            yield from themed(theme)
            taken(name, theme, f"380x560+{left}+{high}")
        yield from together(name)
        for each in on:
            setattr(show, each, False)
        show.motors = "NONE"


def graph() -> Iterator[float]:
    """The motor graph at the foot of the view."""
    bpy.context.scene.robik.overlays.graph = True
    yield 1.0
    main, side = region("WINDOW"), region("UI")
    for theme in THEMES:
        yield from themed(theme)
        taken("overlay-graph", theme, f"{main.width - side.width}x180+{main.x}+{screen_height() - main.y - 180}")
    yield from together("overlay-graph", "-append")
    bpy.context.scene.robik.overlays.graph = False


def editors() -> Iterator[float]:
    """Contacts in the dope sheet and limits in the graph editor, in the place of the 3D view."""
    area, show = view(), bpy.context.scene.robik.overlays
    for name, switch, opened in (
        ("overlay-contacts", "contacts", open_dope_sheet(area)),
        ("overlay-limits", "limits", open_graph_editor(area, "hip_pitch_l")),
    ):
        yield from opened
        setattr(show, switch, True)
        yield 1.0
        for theme in THEMES:
            yield from themed(theme)
            taken(
                name,
                theme,
                f"{area.width}x{min(area.height, 420)}+{area.x}+{screen_height() - area.y - min(area.height, 420)}",
            )
        yield from together(name, "-append")
        setattr(show, switch, False)
    area.type = "VIEW_3D"
    yield 1.0


def press_return() -> None:
    subprocess.run(["xdotool", "key", "Return"], check=True)


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
