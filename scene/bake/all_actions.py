"""Bakes of all that a character does: one per action, or one per NLA strip, each with its own length and contacts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import ceil, floor

import bpy
from bpy.types import Action, AnimData, Context, NlaStrip, Object, Scene

from ...robik.errors import RobikError
from ...robik.motions import Motion
from ...robik.skeleton.correspondence import begins_with_pose
from ...robik.steps import relay
from ..animation import actions
from ..character.skeleton import read_character
from ..long_work.steps import Progress
from . import bakes
from .baking import bake_steps
from .markers import mark_short
from .result import status

PLAYED = ("CLIP", "META")  # kinds of NLA strips that hold motion


@dataclass(frozen=True, kw_only=True)
class Take:
    """One thing that a character does.

    Attributes:
        name: of the action or the strip.
        start, end: frames, the last one included.
        action: that is played; None for a strip.
        slot: handle of the action's slot for the character; 0 where there are no slots.
        strip: that is played; None for an action.
    """

    name: str
    start: int
    end: int
    action: Action | None = None
    slot: int = 0
    strip: NlaStrip | None = None


@dataclass(frozen=True, kw_only=True)
class Baked:
    """Result of a take.

    Attributes:
        name: of the take.
        motion: what came out; None where it failed.
        told: how good it is, or why it failed.
    """

    name: str
    motion: Motion | None
    told: str


def performer(root: Object) -> Object:
    """Return the armature that a robot follows; raise RobikError if there is none, or several."""
    character = root.robik.robot.character
    found = {t.source for t in character.targets if t.enabled and t.source is not None and t.source.type == "ARMATURE"}
    if character.rig is not None and character.rig.type == "ARMATURE":
        found = {character.rig}
    if len(found) != 1:
        names = ", ".join(sorted(repr(rig.name) for rig in found)) or "none"
        raise RobikError(
            f"robot {root.name!r} must follow one armature for all of its actions to be baked, it follows {names}: "
            "choose it under Character > Rig"
        )
    return found.pop()


def takes_of(rig: Object, strips: bool, only: str = "") -> list[Take]:
    """Return what a character does, by name: the file's actions for its bones, or its NLA strips that are not muted.

    `only` is a pattern of names, such as `walk*`; all if empty. An action with a single frame is a pose, and left
    out. Raise RobikError if nothing is left.
    """
    found = _strips_of(rig) if strips else _actions_for(rig)
    chosen = [take for take in found if not only or fnmatchcase(take.name, only)]
    if not chosen:
        kind = "NLA strip that plays" if strips else "action of two frames or more for its bones"
        listed = ", ".join(take.name for take in found)
        raise RobikError(
            f"no {kind} of {rig.name!r} is called {only!r}; there are {listed}"
            if found
            else f"{rig.name!r} has no {kind}"
        )
    return chosen


def _actions_for(rig: Object) -> list[Take]:
    """Return the actions that move bones of a rig, by name."""
    bones, found = {f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]' for bone in rig.pose.bones}, []
    for action in bpy.data.actions:
        slot = next(
            (h for h, curves in actions.slots_in(action) if any(p.rpartition(".")[0] in bones for p, _ in curves)), None
        )
        start, end = floor(action.frame_range[0]), ceil(action.frame_range[1])
        if slot is not None and end > start:
            found.append(Take(name=action.name, start=start, end=end, action=action, slot=slot))
    return sorted(found, key=lambda take: take.name)


def _strips_of(rig: Object) -> list[Take]:
    """Return the strips of a rig's NLA that play, in the order of time."""
    tracks = [track for track in rig.animation_data.nla_tracks if not track.mute] if rig.animation_data else []
    found = [strip for track in tracks for strip in track.strips if strip.type in PLAYED and not strip.mute]
    takes = [Take(name=s.name, start=floor(s.frame_start), end=ceil(s.frame_end), strip=s) for s in found]
    return sorted((take for take in takes if take.end > take.start), key=lambda take: (take.start, take.name))


def all_steps(
    context: Context, root: Object, takes: list[Take], each: Callable[[Baked], None] | None = None
) -> Generator[Progress, None, list[Baked]]:
    """Bake every take, each as a bake of its own with the take's name; one that cannot be baked stops no other.

    Contacts set by hand belong to the action that the character has now; of all others they are found. Afterwards
    the character is as it was, and the robot uses the bake of the character's present action. `each` is called
    after each take.
    """
    rig, scene = performer(root), context.scene
    present, used = actions.assigned(rig)[0], bakes.in_use(root)
    done: list[Baked] = []
    try:
        for k, take in enumerate(takes):
            is_present = take.action is not None and take.action == present
            with _staged(scene, root, rig, take, is_present):
                if not is_present:
                    character = read_character(context, root, rig)
                    root.robik.robot.character.left_out = int(begins_with_pose(character.motion, character.anatomy))
                done.append((yield from _baked(context, root, take, (k, len(takes)))))
                if is_present and done[-1].motion is not None:
                    used = bakes.in_use(root)
            if each is not None:
                each(done[-1])
    finally:
        if used >= 0:
            bakes.use(root, used)
            mark_short(root, scene)
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return done


def _baked(context: Context, root: Object, take: Take, place: tuple[int, int]) -> Generator[Progress, None, Baked]:
    """Bake what the scene is set to, and name the bake."""
    k, count = place

    def told(progress: Progress) -> Progress:
        share = None if progress.fraction is None else (k + progress.fraction) / count
        text = f"{take.name} ({k + 1} of {count}): {progress.text}"
        return Progress(share, text, progress.is_long, progress.counts)

    try:
        motion = yield from relay(bake_steps(context, root, keeps_corrections=False), told)
    except RobikError as error:
        return Baked(name=take.name, motion=None, told=" ".join(str(error).split()))
    kept = root.robik.robot.bakes[bakes.in_use(root)]
    kept.name = root.animation_data.action.name = f"{take.name}, {root.robik.label}"
    return Baked(name=take.name, motion=motion, told=status(root.robik.robot.result))


@contextmanager
def _staged(scene: Scene, root: Object, rig: Object, take: Take, is_present: bool) -> Iterator[None]:
    """Let a character do one take alone, over the scene's frames; at the end all is as it was.

    Contacts are found, but for the action that is there already.
    """
    data, robot = rig.animation_data or rig.animation_data_create(), root.robik.robot
    if data.use_tweak_mode:
        raise RobikError(f"the NLA of {rig.name!r} is being tweaked: leave that first (Tab in the NLA editor)")
    present, length = actions.assigned(rig), (scene.frame_start, scene.frame_end)
    own_range, left_out, muted, use_nla = robot.bake.use_range, robot.character.left_out, _muted(data), data.use_nla
    by_hand = [t for t in robot.character.targets if t.contact == "HAND" and not is_present]
    try:
        scene.frame_start, scene.frame_end, robot.bake.use_range = take.start, take.end, False
        actions.assign(rig, take.action, take.slot)
        data.use_nla = take.strip is not None
        for track in data.nla_tracks:
            track.is_solo = False
            track.mute = take.strip not in list(track.strips)
            for strip in track.strips:
                strip.mute = strip != take.strip
        for target in by_hand:
            target.contact = "DETECT"
        yield
    finally:
        for target in by_hand:
            target.contact = "HAND"
        for block, name, value in muted:
            setattr(block, name, value)
        data.use_nla = use_nla
        actions.assign(rig, *present)
        robot.bake.use_range, robot.character.left_out = own_range, left_out
        scene.frame_start, scene.frame_end = length


def _muted(data: AnimData) -> list[tuple[object, str, bool]]:
    """Return what of an NLA is muted, and what is heard alone: (track or strip, property, value)."""
    found: list[tuple[object, str, bool]] = []
    for track in data.nla_tracks:
        found += [(strip, "mute", strip.mute) for strip in track.strips]
        found.append((track, "mute", track.mute))
    return found + [(track, "is_solo", True) for track in data.nla_tracks if track.is_solo]
