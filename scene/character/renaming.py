"""Bones that were renamed: targets go on following them.

Each robot keeps the names and rest places of the bones of the rigs that it follows. A bone that is missing is the one
of a new name that rests where it did.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Armature, Depsgraph, Object, Scene

from ..robot import posing

SAME = 1e-4  # of the rig's size: what reading and writing a bone may move it
DIGITS = 9  # of a place in single precision
NAMES = ("bone", "reach_root", "reach_middle", "reach_hips", "reach_chest")  # of a target's properties
_seen: dict[int, tuple[bytes | str, ...]] = {}  # looks of armatures by their session_uid
Bone = list  # its name, and where its head and tail rest: x, y, z each [m]


def renamed(before: Sequence[Bone], now: Sequence[Bone]) -> dict[str, str]:
    """Return new names by old ones, of an armature's bones that are not there under their old ones.

    Of several at the same place the one at the same place of the list is meant, or none.
    """
    old_names, new_names = {name for name, *_ in before}, {name for name, *_ in now}
    size = max((abs(x) for _, *place in now for x in place), default=0.0)
    found = {}
    for index, (name, *place) in enumerate(before):
        if name in new_names:
            continue
        same = [
            k
            for k, (other, *there) in enumerate(now)
            if other not in old_names and max(abs(a - b) for a, b in zip(place, there, strict=True)) <= SAME * size
        ]
        if index in same and len(before) == len(now):
            same = [index]
        if len(same) == 1:
            found[name] = now[same[0]][0]
    return found


def follow_renamed(root: Object) -> None:
    """Let a robot's targets follow bones that were renamed, and keep the bones' names."""
    character = root.robik.robot.character
    kept = json.loads(character.bones or "{}")
    rigs = {t.source for t in character.targets if t.source is not None and t.source.type == "ARMATURE"}
    found = {rig.name: _bones(rig.data) for rig in rigs}
    for rig in rigs:
        names = renamed(kept.get(rig.name, found[rig.name]), found[rig.name])
        for target in (t for t in character.targets if names and t.source == rig):
            for name in NAMES:
                if getattr(target, name) in names:
                    setattr(target, name, names[getattr(target, name)])
    if found != kept:
        character.bones = json.dumps(found)


def _bones(armature: Armature) -> list[Bone]:
    return [[bone.name, *(_short(x) for x in (*bone.head_local, *bone.tail_local))] for bone in armature.bones]


def _short(x: float) -> float:
    return float(f"{x:.{DIGITS}g}")


def _follow_all() -> None:
    for root in bpy.data.objects:
        if root.robik.kind == "ROBOT" and root.is_editable:
            follow_renamed(root)


@persistent
def _after_update(_scene: Scene, depsgraph: Depsgraph) -> None:
    if not posing.on_main_thread():
        return
    changed = False
    for update in depsgraph.updates:
        armature = update.id.original
        if isinstance(armature, Armature):  # posing a bone is an update of its armature, too
            looks = _looks(armature)
            changed |= _seen.get(armature.session_uid) != looks
            _seen[armature.session_uid] = looks
    if changed:
        _follow_all()


def _looks(armature: Armature) -> tuple[bytes | str, ...]:
    """Return all that matters of an armature here, in a small part of the time that reading its bones takes."""
    places = np.empty((2, 3 * len(armature.bones)), dtype=np.float32)
    armature.bones.foreach_get("head_local", places[0])
    armature.bones.foreach_get("tail_local", places[1])
    return "\n".join(armature.bones.keys()), places.tobytes()


@persistent
def _after_load(_file: str) -> None:
    _seen.clear()
    _follow_all()


HANDLERS = ((bpy.app.handlers.depsgraph_update_post, _after_update), (bpy.app.handlers.load_post, _after_load))


def register() -> None:
    """Start looking for bones that are renamed."""
    for handlers, handler in HANDLERS:
        handlers.append(handler)


def unregister() -> None:
    """Stop."""
    for handlers, handler in HANDLERS:
        handlers.remove(handler)
    _seen.clear()
