"""The ten-minute path of docs/tutorial.md, in a real window, by clicks and keys: tests/gui/run starts this inside
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

from tests.gui.commands import run_commands  # noqa: E402
from tests.gui.dropping import bring_a_recording, import_by_dropping  # noqa: E402
from tests.gui.editors import edit_contacts_and_see_limits  # noqa: E402
from tests.gui.following import drag_and_play  # noqa: E402
from tests.gui.servos import play_on_servos  # noqa: E402
from tests.gui.sidebar import choose, confirm, enter, open_tab, press, screen, switch  # noqa: E402
from tests.gui.window import call, key, picture, remember, result, robot, root, run, until, view, xdotool  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
WALKER = CHECKOUT / "robik/data/robots/walker.robik.json"
CLOSE = 0.01  # [m] that a target may be off
FOLLOW = {"pelvis": "hips", "foot_l": "foot.L", "foot_r": "foot.R"}


def walk() -> Iterator[float]:
    """From installing to letting go of the servos."""
    prepare()
    yield 0.5
    yield from open_tab()
    picture("01_empty")
    yield from bring_a_robot()
    yield from import_by_file_browser()
    yield from import_by_dropping(WALKER)
    picture("02_robot")
    yield from bring_a_recording()
    yield from map_character()
    picture("03_character")
    yield from drag_and_play()
    yield from balance()
    yield from bake()
    picture("05_result")
    yield from look()
    yield from edit_contacts_and_see_limits()
    yield from play_in_the_view()
    yield from undo_and_redo()
    yield from play_on_servos()
    yield from run_commands()


def prepare() -> None:
    """An empty scene with the zip installed."""
    install(ARCHIVE)
    bpy.data.batch_remove(list(bpy.data.objects))
    remember("Empty scene")
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"  # a second window needs a window manager
    space = view().spaces[0]
    space.shading.color_type = "MATERIAL"
    space.region_3d.view_distance, space.region_3d.view_location = 5.0, (0.2, 1.0, 0.05)


def browser() -> bpy.types.Area | None:
    """The file browser, while one is open."""
    return next(
        (area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "FILE_BROWSER"), None
    )


def bring_a_robot() -> Iterator[float]:
    """The walker from the menu beside Import Robot; Ctrl-Z takes it away."""
    yield from press("robik.import_robot", beside=0.83)
    picture("01_menu")
    xdotool("key", "w")
    yield from until(lambda: root() is not None, 300, "the robot from the menu")
    yield from undo_import()


def undo_import() -> Iterator[float]:
    """Away with what was imported."""
    assert len(root().children) == 31
    yield from key("Escape")  # what was imported is told in a popup
    yield from key("ctrl+z")
    yield from until(lambda: root() is None and not bpy.data.objects, 60, "the import undone")


def import_by_file_browser() -> Iterator[float]:
    """The button Import Robot, and Return in the file browser; Ctrl-Z takes the robot away."""
    yield from press("robik.import_robot")
    yield from until(lambda: browser() is not None, 60, "a file browser")
    yield 0.5
    params = browser().spaces[0].params
    params.directory, params.filename = f"{WALKER.parent}/".encode(), WALKER.name
    yield 0.3
    subprocess.run(["xdotool", "mousemove", "500", "900", "key", "Return"], check=True)
    yield from until(lambda: root() is not None, 300, "the robot from the file browser")
    yield from undo_import()


def map_character() -> Iterator[float]:
    """A character walks; Auto-Map's dialog says that hips and feet are followed, and Map does it."""
    scene = bpy.context.scene
    scene.render.fps = 24
    yield from press("robik.add_character")
    yield from until(lambda: "Character" in bpy.data.objects, 60, "the character")
    scene.frame_end = round(bpy.data.objects["Character"].animation_data.action.frame_range[1])
    remember("Character")
    before = screen()
    yield from press("robik.auto_map", 0.2)
    yield 0.3
    picture("03_auto_map")
    assert not robot().character.targets
    yield from confirm(before)
    assert {target.frame: target.bone for target in robot().character.targets} == FOLLOW
    fitted = robot().character.scale
    assert 0.2 < fitted < 0.6
    yield from enter("character.scale", 0.9)
    assert abs(robot().character.scale - 0.9) < 1e-6
    yield from press("robik.fit_character")
    assert abs(robot().character.scale - fitted) < 1e-6


def balance() -> Iterator[float]:
    """Over the feet, which are pinned: as it is by default, and again after another choice."""
    yield from choose("balance.mode", "STILL", "s")
    assert robot().balance.mode == "STILL"
    yield from choose("balance.mode", "AUTO", "a")
    assert robot().balance.mode == "AUTO"
    yield from switch("balance.pin_feet")
    assert not robot().balance.pin_feet
    yield from switch("balance.pin_feet")
    assert robot().balance.pin_feet


def bake() -> Iterator[float]:
    """ESC on the way leaves nothing, nor does a bake whose scene loses an object meanwhile; the last bake goes to its
    end."""
    robot().bake.samples = 100  # long enough to be stopped
    remember("samples")
    before = len(bpy.data.actions)
    yield from press("robik.bake")
    yield 0.5
    picture("04_baking")
    yield from key("Escape")
    yield 0.5
    assert not result().frames
    assert len(bpy.data.actions) == before
    assert root().animation_data is None
    picture("04_stopped")
    bystander = bpy.data.objects.new("Bystander", None)
    bpy.context.scene.collection.objects.link(bystander)
    yield from press("robik.bake")
    yield 0.5
    window = bpy.context.window_manager.windows[0]
    assert window.modal_operators
    bpy.data.objects.remove(bystander)
    yield from until(lambda: not window.modal_operators, 60, "the end of a bake that lost an object")
    yield 0.5
    picture("04_lost")
    yield from key("Escape")  # what was wrong is told in a popup
    assert not result().frames
    assert len(bpy.data.actions) == before
    robot().bake.samples = 1
    remember("samples")
    yield from press("robik.bake")
    yield from until(lambda: result().frames > 0, 600, "a bake")  # compiles first
    yield 0.5
    assert max(row.position_error for row in result().targets) < CLOSE
    assert result().has_margin
    assert result().margin > 0


def look() -> Iterator[float]:
    """To the frame where a target is worst; every overlay is drawn, and gone when it is off."""
    worst = max(result().targets, key=lambda row: row.position_error)
    call(bpy.ops.robik.go_to_frame, frame=worst.frame)
    assert bpy.context.scene.frame_current == worst.frame
    hardest = max(result().actuators, key=lambda row: row.peak_velocity)
    assert call(bpy.ops.robik.go_to_frame, frame=hardest.frame, motor=hardest.name) == {"FINISHED"}
    overlay, show = import_module(f"{PACKAGE}.scene.overlay.views"), bpy.context.scene.robik.overlays
    show.com = show.com_target = show.support = show.errors = show.joints = show.graph = True
    for motors in ("SPEED", "LIMIT"):
        show.motors = motors
        yield from until(overlay.is_drawn, 60, f"overlays with the motors' {motors}")
    picture("05_overlays")
    view().spaces[0].region_3d.view_perspective = "ORTHO"
    yield 0.5
    picture("05_orthographic")
    view().spaces[0].region_3d.view_perspective = "PERSP"
    show.com = show.com_target = show.support = show.errors = show.joints = show.graph = False
    show.motors = "NONE"
    assert not overlay.is_drawing()
    yield 0.3


def play_in_the_view() -> Iterator[float]:
    """The space bar plays the bake: bodies move with the frames."""
    scene, screen_ = bpy.context.scene, bpy.context.window_manager.windows[0].screen
    scene.frame_set(1)
    body = next(child for child in root().children if child.robik.label == "torso")
    began = body.location.copy()
    yield from key("space")
    yield from until(lambda: scene.frame_current > 40, 600, "forty frames played")
    assert screen_.is_animation_playing
    yield from key("space")
    assert not screen_.is_animation_playing
    assert (body.location - began).length > 0.02
    scene.frame_set(40)


def undo_and_redo() -> Iterator[float]:
    """Back to the start, step by step, and forward again."""

    def state() -> tuple:
        if root() is None:
            return (False,)
        return (
            True,
            len(robot().character.targets),
            round(robot().character.scale, 4),
            robot().balance.mode,
            result().frames,
            len(bpy.data.actions),
        )

    seen = [state()]
    while root() is not None and len(seen) < 30:
        yield from key("ctrl+z")
        seen.append(state())
    print("undo:", *seen, sep="\n  ", flush=True)
    assert seen[-1] == (False,)
    assert not bpy.data.objects
    for expected in reversed(seen[:-1]):
        yield from key("ctrl+shift+z")
        assert state() == expected, (state(), expected)


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(walk)
