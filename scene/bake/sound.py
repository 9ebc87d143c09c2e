"""Sound of a motion: a strip of the scene's sequencer, and a file beside a motion that is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import FormatError

MARK = "robik_robot"  # custom property of a strip: the name of the robot whose motion it came with
MIXED = "sound.wav"


def strips_of(scene: Scene) -> list[Any]:
    """Return the sound strips of a scene, those in meta strips too."""
    editor = scene.sequence_editor
    if editor is None:
        return []
    found = getattr(editor, "strips_all", None) or getattr(editor, "sequences_all", ())  # before Blender 4.4
    return [strip for strip in found if strip.type == "SOUND"]


def place_sound(root: Object, scene: Scene, sound: Path | None, frame: int) -> str:
    """Put the sound that came with a robot's motion into the sequencer, in place of that of the motion before.

    Playing is then held to the sound's time, which begins at `frame`. Where the new motion has no sound, the one
    before is muted. Return why the sound is not there, in words; empty where it is, or where there is none.
    """
    before = [strip for strip in strips_of(scene) if strip.get(MARK) == root.name]
    for strip in before:
        strip.mute = True
    if sound is None:
        return ""
    editor = scene.sequence_editor or scene.sequence_editor_create()
    strips: Any = editor.strips if hasattr(editor, "strips") else getattr(editor, "sequences")  # noqa: B009
    for strip in [strip for strip in before if _file(strip) == sound and strip in strips.values()]:
        strips.remove(strip)
    channel = 1 + max((strip.channel for strip in strips), default=0)
    try:
        made = strips.new_sound(sound.stem, str(sound), channel, frame)
    except RuntimeError as error:  # a Blender without sound, or a file that it cannot read
        return f"the sound {sound.name} cannot be taken: {str(error).removeprefix('Error: ').strip()}"
    made[MARK] = root.name
    made.show_waveform = True
    if scene.sync_mode == "NONE":
        scene.sync_mode = "AUDIO_SYNC"
    return ""


def _file(strip: Any) -> Path:
    return Path(bpy.path.abspath(strip.sound.filepath)) if strip.sound else Path()


@contextmanager
def sound_of(scene: Scene, frames: np.ndarray) -> Iterator[Path | None]:
    """Yield the file of what a scene's sequencer plays along a motion's frames; None where nothing is heard.

    A single strip that begins with it is its own file, as long as it is; else all of it is mixed into one, which is
    gone after this context. Raise FormatError if it cannot be mixed.
    """
    first, last = float(frames[0]), float(frames[-1])
    heard = [
        strip
        for strip in strips_of(scene)
        if not strip.mute and strip.frame_final_start < last and strip.frame_final_end > first
    ]
    if not heard:
        yield None
        return
    only = heard[0] if len(heard) == 1 else None
    if only is not None and _is_whole(only, first) and _file(only).is_file():
        yield _file(only)
        return
    with TemporaryDirectory() as folder:
        yield _mixed(scene, floor(first), ceil(last), Path(folder) / MIXED)


def _is_whole(strip: Any, first: float) -> bool:
    """Return whether a strip is heard as its file is, from the first frame on."""
    begins = abs(strip.frame_final_start - first) < 0.5 and strip.frame_final_start == strip.frame_start
    return begins and strip.frame_offset_end <= 0 and strip.volume == 1.0 and strip.pan == 0.0


def _mixed(scene: Scene, first: int, last: int, path: Path) -> Path:
    """Mix what the sequencer plays between two frames into a file."""
    before = scene.frame_start, scene.frame_end
    scene.frame_start, scene.frame_end = first, last
    try:
        # what it reports says less than that there is no file
        with bpy.context.temp_override(scene=scene), suppress(RuntimeError):
            bpy.ops.sound.mixdown(filepath=str(path), container="WAV", codec="PCM", format="S16", check_existing=False)
    finally:
        scene.frame_start, scene.frame_end = before
    if not path.is_file():
        raise FormatError("the sequencer's sound cannot be mixed into a file; mute it, or leave a single strip")
    return path
