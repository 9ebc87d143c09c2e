"""The ten-minute path of docs/tutorial.md, in a real window: tests/gui/run starts this inside Blender."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))  # at the end: `import robik` is the installed library

import bpy  # noqa: E402

from tests.gui.window import call, key, open_tab, picture, remember, run, until, view  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
WALKER = CHECKOUT / "robik/robots/walker.robik.json"
CLOSE = 0.01  # [m] that a target may be off
FOLLOW = {"pelvis": "hips", "foot_l": "foot.L", "foot_r": "foot.R"}


def walk() -> Iterator[float]:
    """From installing to letting go of the servos."""
    prepare()
    yield 0.5
    yield from open_tab()
    picture("01_empty")
    yield from import_by_file_browser()
    yield from import_by_dropping()
    picture("02_robot")
    yield from map_character()
    picture("03_character")
    yield from bake()
    picture("05_result")
    yield from look()
    yield from undo_and_redo()
    yield from play_on_servos()


def root() -> bpy.types.Object:
    """The robot, wherever undo has put it."""
    return bpy.context.scene.robik.robot


def result() -> bpy.types.PropertyGroup:
    return root().robik.robot.result


def prepare() -> None:
    """An empty scene with the zip installed."""
    install(ARCHIVE)
    if theme := os.environ.get("GUI_THEME"):
        folder = Path(bpy.utils.system_resource("SCRIPTS")) / "presets/interface_theme"
        bpy.ops.script.execute_preset(filepath=str(folder / theme), menu_idname="USERPREF_MT_interface_theme_presets")
    bpy.data.batch_remove(list(bpy.data.objects))
    remember("Empty scene")
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"  # a second window needs a window manager
    space = view().spaces[0]
    space.shading.color_type = "MATERIAL"
    space.region_3d.view_distance, space.region_3d.view_location = 4.6, (0.0, 0.5, 0.05)


def browser() -> bpy.types.Area | None:
    """The file browser, while one is open."""
    return next((area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "FILE_BROWSER"), None)


def import_by_file_browser() -> Iterator[float]:
    """File > Import > Robot, in the file browser."""
    assert call(bpy.ops.robik.import_robot) == {"RUNNING_MODAL"}
    yield from until(lambda: browser() is not None, 5, "a file browser")
    yield 0.5
    area = browser()
    area.spaces[0].params.directory, area.spaces[0].params.filename = f"{WALKER.parent}/".encode(), WALKER.name
    yield 0.3
    with bpy.context.temp_override(area=area, region=area.regions[-1]):
        bpy.ops.file.execute()
    yield from until(lambda: root() is not None, 10, "the robot from the file browser")
    assert len(root().children) == 31
    yield from key("ctrl+z")
    yield from until(lambda: root() is None and not bpy.data.objects, 5, "the import undone")


def import_by_dropping() -> Iterator[float]:
    """The file is dragged from another window onto the view."""
    source = subprocess.Popen(["wish", str(CHECKOUT / "tests/gui/drag.tcl"), str(WALKER)])
    yield 1.5
    # In one go and from outside: Blender's window stands still from the moment a drag enters it until it ends.
    way = [word for x in range(1440, 500, -60) for word in ("mousemove", str(x), "400", "sleep", "0.05")]
    hand = subprocess.Popen(["xdotool", "mousemove", "1460", "130", "sleep", "0.3", "mousedown", "1", *way, "sleep", "0.5", "mouseup", "1"])
    try:
        yield from until(lambda: root() is not None, 60, "the robot that was dropped")
    finally:
        for helper in (hand, source):
            helper.kill()
            helper.wait()
    yield 0.5


def map_character() -> Iterator[float]:
    """A character walks; hips and feet are followed."""
    from demo.character import make_character
    from demo.walk import animate_walk

    scene = bpy.context.scene
    rig = make_character(scene)
    rig.location.y = 1.0
    rig.rotation_euler.z = 1.5708
    scene.render.fps = 24
    scene.frame_end = animate_walk(rig, first_frame=scene.frame_start)
    remember("Character")
    for frame, bone in FOLLOW.items():
        assert call(bpy.ops.robik.add_target, frame=frame, source=rig.name, bone=bone) == {"FINISHED"}
        yield 0.2
    assert call(bpy.ops.robik.fit_character) == {"FINISHED"}
    assert 0.2 < root().robik.robot.character.scale < 0.6
    balance = root().robik.robot.balance
    balance.source, balance.pin_feet = "FEET", True
    remember("Balance")
    yield 0.5


def bake() -> Iterator[float]:
    """ESC on the way leaves nothing; the second bake goes to its end."""
    bpy.context.scene.robik.robot.robik.robot.bake.samples = 40  # long enough to be stopped
    before = len(bpy.data.actions)
    assert call(bpy.ops.robik.bake) == {"RUNNING_MODAL"}
    yield 1.5
    picture("04_baking")
    yield from key("Escape")
    yield 0.5
    assert not result().frames
    assert len(bpy.data.actions) == before
    assert root().animation_data is None
    picture("04_stopped")
    root().robik.robot.bake.samples = 1
    remember("Samples")
    assert call(bpy.ops.robik.bake) == {"RUNNING_MODAL"}
    yield from until(lambda: result().frames > 0, 180, "a bake")
    yield 0.5
    assert max(row.position_error for row in result().targets) < CLOSE
    assert result().has_margin
    assert result().margin > 0
    bpy.context.scene.frame_set(40)
    yield 0.3


def look() -> Iterator[float]:
    """To the frame where a motor works hardest, by the button's operator; every overlay is drawn, and gone when it is off."""
    hardest = max(result().actuators, key=lambda row: row.peak_velocity)
    assert call(bpy.ops.robik.go_to_frame, frame=hardest.frame, motor=hardest.name) == {"FINISHED"}
    assert bpy.context.scene.frame_current == hardest.frame
    overlay, show = import_module(f"{PACKAGE}.scene.overlay"), bpy.context.scene.robik.overlays
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


def undo_and_redo() -> Iterator[float]:
    """Back to before the mapping, step by step, and forward again."""

    def state() -> tuple[int, float, int, int]:
        robot = root().robik.robot
        return len(robot.character.targets), round(robot.character.scale, 4), robot.result.frames, len(bpy.data.actions)

    seen = [state()]
    for _ in range(7):
        yield from key("ctrl+z")
        seen.append(state())
    for expected in reversed(seen[:-1]):
        yield from key("ctrl+shift+z")
        assert state() == expected, (state(), expected, seen)
    assert seen[-1][0] < 3
    print("undo:", seen, flush=True)


def play_on_servos() -> Iterator[float]:
    """Connect, torque, play, ESC, play, stop, disconnect; on the simulated chain."""
    play = import_module(f"{PACKAGE}.scene.play")

    def state() -> str:
        return play.status().state.value

    call(bpy.ops.robik.preflight)
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: state() == "ready", 10, "servos found")
    picture("06_connected")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: state() == "holding", 5, "torque")
    yield 0.3
    picture("07_holding")
    assert call(bpy.ops.robik.play_servos) == {"RUNNING_MODAL"}
    yield from until(lambda: state() == "playing", 20, "playing")
    yield 2.0
    picture("08_playing")
    yield from key("Escape")
    yield from until(lambda: state() == "holding", 5, "stopped by ESC")
    assert "stopped" in play.status().message
    assert 0 < play.status().time < play.status().duration
    call(bpy.ops.robik.play_servos)
    yield from until(lambda: state() == "playing", 20, "playing")
    call(bpy.ops.robik.pause_servos, on=True)
    yield from until(lambda: state() == "paused", 5, "paused")
    call(bpy.ops.robik.pause_servos, on=False)
    yield from until(lambda: state() == "playing", 5, "going on")
    call(bpy.ops.robik.stop_servos)
    yield from until(lambda: state() == "holding", 5, "stopped by the button")
    yield from follow_live(play)
    call(bpy.ops.robik.stop_servos, emergency=True)
    yield from until(lambda: not play.status().torque, 5, "torque off")
    yield 0.5
    picture("09_off")
    call(bpy.ops.robik.disconnect_servos)
    yield 0.5
    assert play.player() is None
    picture("10_end")


def follow_live(play: ModuleType) -> Iterator[float]:
    """The servos follow the timeline, and a slider; ESC ends that."""
    assert call(bpy.ops.robik.live_servos) == {"RUNNING_MODAL"}
    name = play.player().chain.actuators[3]
    for frame in (1, 12):
        bpy.context.scene.frame_set(frame)
        yield from until(lambda: abs(play.real_pose()[name] - root()[name]) < 0.02, 15, f"the servos at frame {frame}")
    picture("08_live")
    yield from key("Escape")
    yield from until(lambda: play.status().state.value == "holding", 5, "live stopped by ESC")


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(walk)
