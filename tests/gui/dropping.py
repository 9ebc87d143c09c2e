"""Files dragged from another window onto the view: a robot, and a recording for it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy

from tests.gui.sidebar import confirm, screen
from tests.gui.window import key, picture, remember, robot, root, until

SOURCE = Path(__file__).with_name("drag.tcl")
RECORDING = Path("/tmp/steps.bvh")


def import_by_dropping(file: Path) -> Iterator[float]:
    """A robot's file."""
    yield from drop(file, lambda: root() is not None)
    yield 0.5
    picture("02_told")
    yield from key("Escape")


def bring_a_recording() -> Iterator[float]:
    """A recording comes in, and Auto-Map's dialog with it; Map does it. Two Ctrl-Z later all is as before."""
    remember("Robot")
    objects = len(bpy.data.objects)
    write_recording()
    before = screen()
    yield from drop(RECORDING, lambda: robot().character.rig is not None)
    picture("02_recording")
    assert not robot().character.targets
    yield from confirm(before)
    yield from until(lambda: len(robot().character.targets) == 3, 60, "the targets")
    assert {target.bone for target in robot().character.targets} == {"Hips", "LeftFoot", "RightFoot"}
    assert len(bpy.data.objects) == objects + 1
    for _ in range(2):
        yield from key("ctrl+z")
    yield from until(lambda: len(bpy.data.objects) == objects, 60, "the recording undone")
    assert robot().character.rig is None


def write_recording() -> None:
    """Hips on two legs, which they lift up and down; 30 frames a second."""
    turns = "Zrotation Xrotation Yrotation"
    lines = ["HIERARCHY", "ROOT Hips", "{", "OFFSET 0 90 0", f"CHANNELS 6 Xposition Yposition Zposition {turns}"]
    for side, x in (("Left", 10), ("Right", -10)):
        lines += [f"JOINT {side}UpLeg", "{", f"OFFSET {x} 0 0", f"CHANNELS 3 {turns}"]
        lines += [
            f"JOINT {side}Foot",
            "{",
            "OFFSET 0 -80 0",
            f"CHANNELS 3 {turns}",
            "End Site",
            "{",
            "OFFSET 0 -10 10",
            "}",
            "}",
            "}",
        ]
    frames = [" ".join(map(str, [0, 90 + frame % 5, 0] + 15 * [0])) for frame in range(20)]
    RECORDING.write_text(
        "\n".join([*lines, "}", "MOTION", f"Frames: {len(frames)}", "Frame Time: 0.0333333", *frames]) + "\n"
    )


def drop(file: Path, arrived: Callable[[], bool]) -> Iterator[float]:
    """Drags a file onto the view until it has arrived."""
    source = subprocess.Popen(["wish", str(SOURCE), str(file)])
    yield from until(
        lambda: subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "^drag"]).returncode == 0,
        120,
        "the other window",
    )
    try:
        for _ in range(5):  # on a busy machine the two windows may miss each other's messages
            yield 1.0
            yield from _drag_and_drop()
            if arrived():
                break
        yield from until(arrived, 1, f"{file.name}, which was dropped")
    finally:
        source.kill()
        source.wait()


def _drag_and_drop() -> Iterator[float]:
    """Once, until what it brings is there or nothing comes of it."""
    # In one go and from outside: Blender's window stands still from the moment a drag enters it until it ends.
    way = [word for x in range(1440, 500, -60) for word in ("mousemove", str(x), "400", "sleep", "0.05")]
    hand = subprocess.Popen(
        ["xdotool", "mousemove", "1460", "130", "sleep", "0.3", "mousedown", "1", *way, "sleep", "0.5", "mouseup", "1"]
    )
    try:
        yield from until(lambda: hand.poll() is not None, 60, "the hand at its place")
    finally:
        hand.kill()
        hand.wait()
    yield 3.0
    window = bpy.context.window_manager.windows[0]
    yield from until(lambda: not window.modal_operators, 300, "the end of the import")
