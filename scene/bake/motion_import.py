"""Motion files as keys on a robot: an action of its own beside its bakes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from bpy.types import Object, PropertyGroup, Scene

from ...robik.errors import RobikError
from ...robik.mechanism.base import with_base
from ...robik.motions import Companions, Motion, load_motion
from ...robik.motions.posing import posed
from ...robik.report.shortfall import unassembled
from ...robik.retargeting.following_poses import follow_poses, out_of_reach
from ...robik.servo.chain.export import count_values
from ...robik.skeleton.feet import leg_ends
from ..robot import posing
from ..robot.chain import servo_chain
from ..robot.feet import let_go
from ..robot.reading import read_robot
from . import bakes
from .corrections import corrections_of
from .curves import write_motion
from .ghost import ORIGINAL, show_ghost
from .polish import reduce_motors
from .sound import place_sound


@dataclass(frozen=True, kw_only=True)
class Keying:
    """Choices by which a motion file becomes keys.

    Attributes:
        angle: how far a motor or the base may be turned from where the file has it [rad]; 0 for a key per sample.
        length: how far one that slides, or the base, may be [m].
        ghost: whether the original is shown beside the robot.
        corrections: whether what was changed by hand on the motion before is kept on this one.
    """

    angle: float
    length: float
    ghost: bool
    corrections: bool


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Result of an import.

    Attributes:
        motion: the file's, with all bodies.
        apart: in words what is out of reach or cannot be assembled; empty if nothing is.
        corrected: whether corrections were added to it.
        unheard: why its sound did not come with it, in words; empty where it did, or where there is none.
        freed: whether the robot was let go, since the file says where its base is.
    """

    motion: Motion
    apart: str
    corrected: bool
    unheard: str
    freed: bool


def import_motion(
    root: Object, scene: Scene, path: Path, format: str | None, beside: Companions, keying: Keying
) -> Imported:
    """Key a motion on a robot from the scene's first frame on, as its original and as a copy to be edited.

    A robot that is held only because its file does not say where it is, as a URDF, is released by a motion of its
    base. The format is known by the file's content if None; `beside` has the order and rate of files that do not
    say them. After a RobikError nothing has been changed.
    """
    mechanism = read_robot(root)
    companions = Companions(
        robot=mechanism,
        follow=follow_poses,
        order=beside.order,
        fps=beside.fps,
        count_values=lambda *counted: count_values(servo_chain(root, mechanism, scene))(*counted),
    )
    given = _loaded(path, format, companions)
    freed = given.base is not None and mechanism.is_grounded and let_go(root)
    mechanism = read_robot(root) if freed else mechanism
    motion, residual = posed(mechanism, given, path.name)
    rate = scene.render.fps / scene.render.fps_base
    frames = np.asarray(scene.frame_start + (motion.times - motion.times[0]) * rate)
    corrections = corrections_of(root, mechanism, scene) if keying.corrections else None
    with posing.paused():
        original = _keyed(root, scene, motion, frames, keying, f"{path.stem}, original").parts[""].action
        corrected = None if corrections is None else posed(mechanism, corrections.on(motion, frames), path.name)[0]
        _keyed(root, scene, corrected, frames, keying, path.stem).original = original
        scene.frame_end = max(scene.frame_end, int(np.ceil(frames[-1])))
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    unheard = place_sound(root, scene, given.sound, scene.frame_start)
    if keying.ghost:
        show_ghost(root, scene, replace(motion, times=motion.times - motion.times[0]), float(frames[0]), ORIGINAL)
    apart = unassembled(mechanism, residual) or out_of_reach(mechanism, motion)
    return Imported(motion=motion, apart=apart, corrected=corrections is not None, unheard=unheard, freed=freed)


def _loaded(path: Path, format: str | None, companions: Companions) -> Motion:
    """Return the motion in a file; of a robot on legs as if it floated, if the file has what that needs."""
    held = companions.robot
    if held is not None and held.is_grounded and leg_ends(held):
        with suppress(RobikError):
            return load_motion(path, format, replace(companions, robot=with_base(held, "floating")))
    return load_motion(path, format, companions)


def _keyed(
    root: Object, scene: Scene, motion: Motion | None, frames: np.ndarray, keying: Keying, name: str
) -> PropertyGroup:
    """Return a new bake with a motion's keys; with those of the bake before where there is no motion."""
    bakes.begin(root)
    if motion is not None:
        write_motion(root, motion, frames)
        if keying.angle > 0.0:
            reduce_motors(root, scene, keying.angle, keying.length, with_base=True)
    root.robik.robot.result.frames = 0  # it has followed nothing here
    bakes.keep_result(root)
    bake = root.robik.robot.bakes[bakes.in_use(root)]
    bake.name = name
    return bake
