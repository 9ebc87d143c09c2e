"""Takes the pictures of docs/reachy-mini.md anew: tests/gui/run 4.3 reachy docs/images.

It wants Reachy Mini's wheel in .cache/gallery (python3 -m venv .cache/gallery; pip install --no-deps reachy-mini), and
its daemon on port 8000 of this machine: .cache/reachy-daemon/bin/reachy-mini-daemon --mockup-sim --no-media.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import wave
from array import array
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.sidebar import open_tab, press  # noqa: E402
from tests.gui.window import PICTURES, call, key, region, root, run, screen_height, until, view  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE, MOVE = Path("/tmp/robik.zip"), Path("/tmp/hello.json")
SECONDS, RATE = 10.0, 8_000  # of the move, and samples of its sound a second
QUALITY = "82"


def hello() -> None:
    """A move of ten seconds with a sound beside it."""
    times = [0.02 * k for k in range(round(SECONDS / 0.02) + 1)]
    samples = []
    for t in times:
        fade = min(1.0, t, SECONDS - t)
        nod, turn = 0.25 * fade * math.sin(2.5 * t), 0.45 * fade * math.sin(0.9 * t)
        c, s, d, e = math.cos(turn), math.sin(turn), math.cos(nod), math.sin(nod)
        rise = 0.008 * fade * math.sin(5.0 * t)
        head = [[c * d, -s, c * e, 0.0], [s * d, c, s * e, 0.0], [-e, 0.0, d, rise], [0.0, 0.0, 0.0, 1.0]]
        wag = 0.17 + 0.6 * fade * math.sin(4.0 * t)
        samples.append({"head": head, "antennas": [-wag, wag], "body_yaw": 0.6 * turn})
    MOVE.write_text(json.dumps({"description": "hello", "time": times, "set_target_data": samples}))
    tone = (
        9_000 * math.sin(2 * math.pi * (330 + 60 * math.sin(5.0 * k / RATE)) * k / RATE) * abs(math.sin(2.5 * k / RATE))
        for k in range(round(SECONDS * RATE))
    )
    with wave.open(str(MOVE.with_suffix(".wav")), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(array("h", map(int, tone)).tobytes())


def shoot() -> Iterator[float]:
    """From the gallery to the daemon."""
    install(ARCHIVE)
    hello()
    bpy.data.batch_remove(list(bpy.data.objects))
    os.environ["VIRTUAL_ENV"] = str(CHECKOUT / ".cache" / "gallery")
    space = view().spaces[0]
    space.shading.color_type = "MATERIAL"
    space.overlay.show_cursor = space.overlay.show_relationship_lines = False
    space.region_3d.view_distance, space.region_3d.view_location = 0.95, (0.0, 0.12, 0.14)
    bpy.context.scene.render.fps = 50
    yield 0.5
    yield from open_tab()
    gallery = import_module(f"{PACKAGE}.scene.importing.gallery")
    reachy = next(entry for entry in gallery.gallery() if entry.title == "Reachy Mini")
    gallery.previews.want([reachy])
    yield from until(lambda: gallery.previews.picture(reachy).exists(), 400, "its preview")
    yield from press("robik.gallery")
    yield 3.0
    window("reachy-gallery", is_top=True)
    yield from key("Escape")
    call(bpy.ops.robik.import_gallery_robot, robot="Reachy Mini")
    yield from until(lambda: root() is not None, 400, "the robot")
    yield from key("Escape")
    call_import()
    yield from until(lambda: len(root().robik.robot.bakes) > 0, 400, "the move")
    yield from move()
    yield from play()


def call_import() -> None:
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=view(), region=region("WINDOW")):
        bpy.ops.robik.import_motion("EXEC_DEFAULT", True, filepath=str(MOVE))


def move() -> Iterator[float]:
    """The robot, its ghost, and the sound as a strip below."""
    call(bpy.ops.robik.remove_ghost)
    windows = bpy.context.window_manager.windows
    bpy.ops.object.select_all(action="DESELECT")
    known = set(windows[0].screen.areas)
    with bpy.context.temp_override(window=windows[0], area=view(), region=region("WINDOW")):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.2)
    sequencer = next(iter(set(windows[0].screen.areas) - known))
    if sequencer.y > view().y:  # the new one is above
        sequencer = view()
    sequencer.type = "SEQUENCE_EDITOR"
    bpy.context.scene.frame_set(100)
    yield 1.0
    strip_region = next(r for r in sequencer.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=sequencer, region=strip_region):
        bpy.ops.sequencer.view_all()
    yield 3.0
    window("reachy-move")


def play() -> Iterator[float]:
    """The daemon plays it."""
    servos, scene = import_module(f"{PACKAGE}.scene.servos.play"), bpy.context.scene

    def state() -> str:
        return servos.status().state.value

    settings_of = servos.settings_of  # a machine that stalls is no fault of the daemon's
    servos.settings_of = lambda scene: replace(settings_of(scene), heartbeat=60.0, silence=20.0)
    only_servos()
    scene.robik.playing.soften = True  # wherever the last run has left it
    scene.robik.playing.speed = 0.2  # a slow machine draws a picture every few seconds
    scene.robik.port, scene.robik.playing.stall, scene.robik.playing.ghost = "reachy:localhost:8000", 20.0, True
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: state() in ("ready", "holding"), 60, servos.status().message)
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: state() == "holding", 60, servos.status().message)
    assert call(bpy.ops.robik.play_servos) == {"RUNNING_MODAL"}
    yield from until(lambda: state() == "playing", 60, "playing")
    for k in range(4):
        yield from until(lambda: servos.status().time > 2.0 * k + 1.0 or state() != "playing", 60, "the next frame")  # noqa: B023
        yield 0.3
        if k == 1:
            window("reachy-playing")
        shot(f"/tmp/frame-{k}.png")
    strips = [f"/tmp/frame-{k}.png" for k in range(4)]
    main = region("WINDOW")
    size = f"360x420+{main.x + main.width // 2 - 260}+{screen_height() - main.y - main.height // 2 - 210}"
    crops = ["-crop", size, "+repage"]
    subprocess.run(
        ["convert", *strips, *crops, "+append", "-strip", "-quality", QUALITY, f"{PICTURES}/reachy-frames.jpg"],
        check=True,
    )
    yield from until(lambda: state() == "holding", 120, "the end")
    call(bpy.ops.robik.stop_servos, emergency=True)
    yield from until(lambda: not servos.status().torque, 60, "torque off")
    call(bpy.ops.robik.disconnect_servos)
    yield 0.5


def only_servos() -> None:
    """Leave the panels of servos alone in the tab, unfolded."""
    modules = import_module(f"{PACKAGE}.panels").MODULES
    classes = [cls for m in modules for cls in m.CLASSES if issubclass(cls, bpy.types.Panel)]
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    for cls in classes:
        if cls.bl_idname in ("ROBIK_PT_servos", "ROBIK_PT_servos_state"):
            if "DEFAULT_CLOSED" in getattr(cls, "bl_options", ()):
                cls.bl_options, cls.bl_idname = set(), f"{cls.bl_idname}_opened"
            bpy.utils.register_class(cls)


def shot(path: str) -> None:
    """The screen as it is."""
    subprocess.run(["import", "-window", "root", path], check=True)


def window(name: str, is_top: bool = False) -> None:
    """The window from its left to the sidebar's end, or its upper part from side to side."""
    side = region("UI")
    shot("/tmp/screen.png")
    place = "1280x560+0+0" if is_top else f"{side.x + side.width}x{screen_height()}+0+0"
    changes = ["-crop", place, "+repage", "-resize", "840x", "-strip", "-quality", QUALITY]
    subprocess.run(["convert", "/tmp/screen.png", *changes, f"{PICTURES}/{name}.jpg"], check=True)


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
